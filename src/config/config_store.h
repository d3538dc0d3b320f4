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
// Errors are whole replies ("ERR CONFIG SET failed ...") in Redis's words.
//
// Thread rule: the main thread only, or inside an exclusive section.
class ConfigStore {
 public:
  // Puts a part's changed values into effect. Called after the options have been changed; it may
  // correct them (`dir` becomes absolute). An Error says why that cannot be done: then all values
  // are restored, and the functions that had run are called once more with the old values.
  using Apply = std::function<Status()>;

  struct Caller {
    bool may_set_protected = false;
    bool loading = false;  // the dataset is being loaded
  };
  using Setting = std::pair<std::string, std::string>;  // name, value

  // Both outlive the store; `options` is of the table's struct.
  ConfigStore(const Table& table, Values& options) : table_(table), options_(options) {}

  const Table& table() const { return table_; }

  // Calls `apply` when a directive of `part` has changed; once, however many of them have. Parts
  // are served in the order of the changes, one part's functions in that of registration.
  void on_change(const Part& part, Apply apply) { hooks_.push_back({&part, std::move(apply)}); }
  // Whether on_change() was called for it.
  bool has_receiver(const Part& part) const;
  // Calls `apply` when a directive has changed that nothing acts on (kNoEffectYet, kNeedless).
  void on_change_without_effect(Apply apply) { on_change(kWithoutEffect, std::move(apply)); }

  // The directives that match any of the patterns, each name once, in table order. A name without
  // glob characters is answered as it was asked, hidden directives included; aliases are names of
  // their own.
  std::vector<Setting> get(std::span<const std::string> patterns) const;

  // All or nothing.
  Status set(std::span<const Setting> settings, const Caller& caller);

  // The file that the configuration came from; empty: no file. Should be absolute, because the
  // working directory moves.
  void set_config_file(std::string path) { config_file_ = std::move(path); }
  const std::string& config_file() const { return config_file_; }

  // Brings the file up to date.
  Status rewrite(const FileAccess& files, const RewriteRequest& request) const;

 private:
  static constexpr Part kWithoutEffect{"without effect"};

  struct Hook {
    const Part* part;
    Apply apply;
  };
  // A setting that has passed the checks on its name.
  struct Change {
    const Directive* row;
    std::string_view spelling;  // name or alias, in lower case, as errors show it
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
