#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "server/config_file.h"
#include "server/config_rewrite.h"
#include "server/option_table.h"
#include "server/options.h"

namespace sorrel::server {

// CONFIG at run time: what the configuration is, changing it, and writing it back.
//
// Errors are whole replies ("ERR CONFIG SET failed ...") in Redis's words.
//
// Thread rule: the main thread only, or under the gate.
class ConfigStore {
 public:
  // Puts a changed value into effect. Called after Options has been changed; it may correct the
  // value
  // (`dir` becomes absolute). Answers why it cannot be done, and then everything is taken back and
  // the hooks that had run are called once more with the old values.
  using Apply = std::function<Status(Options&)>;

  struct Caller {
    bool local = false;    // over loopback or a unix socket
    bool loading = false;  // the dataset is being loaded
  };
  using Setting = std::pair<std::string, std::string>;  // name, value

  // `options` must outlive the store.
  explicit ConfigStore(Options& options) : options_(options) {}

  const Options& options() const { return options_; }

  // Calls `apply` when one of `names` has changed; once, however many of them have. Unknown names
  // are a mistake of ours and are ignored in release builds.
  void on_change(std::span<const std::string_view> names, Apply apply);
  void on_change(std::string_view name, Apply apply);

  // The directives that match any of the patterns, each name once, in table order. A name without
  // glob characters is answered as it was asked, hidden directives included; aliases are names of
  // their own.
  std::vector<Setting> get(std::span<const std::string> patterns) const;

  // All or nothing.
  Status set(std::span<const Setting> settings, const Caller& caller);

  // Where the configuration came from; empty: no file. Should be absolute, because `dir` moves.
  void set_config_file(std::string path) { config_file_ = std::move(path); }
  const std::string& config_file() const { return config_file_; }

  // Brings the file up to date.
  Status rewrite(const FileAccess& files, const RewriteRequest& request) const;

 private:
  struct Hook {
    std::vector<const Directive*> rows;
    Apply apply;
  };
  // A setting that has passed the checks on its name.
  struct Change {
    const Directive* row;
    std::string_view spelling;  // name or alias, in lower case, as errors show it
    const std::string* value;
  };

  Result<std::vector<Change>> resolve(std::span<const Setting> settings,
                                      const Caller& caller) const;
  Status run_hooks(std::span<const Change> changes, const Options& before);

  Options& options_;
  std::vector<Hook> hooks_;
  std::string config_file_;
};

}  // namespace sorrel::server
