#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/config_rewrite.h"
#include "config/file_access.h"
#include "config/option_table.h"

namespace sorrel::config {

// CONFIG at run time: reading the configuration, changing it, and writing it back.
//
// Errors are complete replies with Redis's texts ("ERR CONFIG SET failed ...").
//
// Thread rule: the main thread only, or inside an exclusive section.
class ConfigStore {
 public:
  // Applies a part's changed values. Called after the options have been changed; may correct them
  // (`dir` becomes absolute). On an Error all values are restored, and the functions that had run
  // are called again with the old values.
  using Apply = std::function<Status()>;

  struct Caller {
    bool may_set_protected = false;
    bool loading = false;  // the dataset is being loaded
  };
  using Setting = std::pair<std::string, std::string>;  // name, value

  // Both outlive the store; `options` is of the table's struct type.
  ConfigStore(const Table& table, Values& options) : table_(table), options_(options) {}

  const Table& table() const { return table_; }

  // Registers `apply`, called once per CONFIG SET that changed any directive of `part`. Parts are
  // called in the order of the changes, functions of one part in the order of registration.
  void on_change(const Part& part, Apply apply) { hooks_.push_back({&part, std::move(apply)}); }
  // Was on_change() called for `part`?
  bool has_receiver(const Part& part) const;
  // Registers `apply` for changes of directives without effect (kNoEffectYet, kNeedless).
  void on_change_without_effect(Apply apply) { on_change(kWithoutEffect, std::move(apply)); }

  // The directives that match any of the patterns, each name once, in table order. A name without
  // glob characters is returned in the requested spelling, hidden directives included; aliases
  // count as names.
  std::vector<Setting> get(std::span<const std::string> patterns) const;

  // Changes all of the settings or none.
  Status set(std::span<const Setting> settings, const Caller& caller);

  // The configuration file; empty: none. Should be absolute, because the working directory may
  // change.
  void set_config_file(std::string path) { config_file_ = std::move(path); }
  const std::string& config_file() const { return config_file_; }

  // CONFIG REWRITE: updates the configuration file.
  Status rewrite(const FileAccess& files, const RewriteRequest& request) const;

 private:
  static constexpr Part kWithoutEffect{"without effect"};

  struct Hook {
    const Part* part;
    Apply apply;
  };
  // A setting whose name has been validated.
  struct Change {
    const Directive* row;
    std::string_view spelling;  // name or alias in lower case, as in error texts
    const std::string* value;
  };

  static bool concerns(const Hook& hook, const Directive& row);
  Result<std::vector<Change>> resolve(std::span<const Setting> settings,
                                      const Caller& caller) const;
  Status assign_all(std::span<const Change> changes);
  Status run_hooks(std::span<const Change> changes, const Values& before);

  const Table& table_;
  Values& options_;
  std::vector<Hook> hooks_;
  std::string config_file_;
};

}  // namespace sorrel::config
