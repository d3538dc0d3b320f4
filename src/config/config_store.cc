// CONFIG SET changes several directives atomically: all settings are validated and assigned, then
// the apply functions run; when one of them fails, the previous values are restored and applied
// again.

#include "config/config_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/bytes.h"
#include "base/glob.h"
#include "config/directive_effect.h"

namespace sorrel::config {
namespace {

Error set_failed(std::string_view name, std::string_view reason) {
  return {
      fmt::format("ERR CONFIG SET failed (possibly related to argument '{}') - {}", name, reason)};
}

bool is_pattern(std::string_view text) {
  return text.find_first_of("[*?") != std::string_view::npos;
}

// CONFIG SET separates the arguments of a multi-argument directive by single blanks; an empty value
// means no argument.
std::vector<std::string> split_value(const Directive& row, const std::string& value) {
  if (!row.has(kMultiArg)) return {value};
  std::vector<std::string> parts;
  if (value.empty()) return parts;
  size_t from = 0;
  while (true) {
    const size_t blank = value.find(' ', from);
    parts.push_back(value.substr(from, blank - from));
    if (blank == std::string::npos) return parts;
    from = blank + 1;
  }
}

std::string_view spelling_of(const Directive& row, std::string_view asked) {
  return iequals(row.name, asked) ? row.name : row.alias;
}

}  // namespace

bool ConfigStore::has_receiver(const Part& part) const {
  return std::any_of(hooks_.begin(), hooks_.end(),
                     [&](const Hook& hook) { return hook.part == &part; });
}

std::vector<ConfigStore::Setting> ConfigStore::get(std::span<const std::string> patterns) const {
  std::vector<Setting> found;
  std::set<std::string> names;
  const auto add = [&](const Directive& row, std::string_view name) {
    if (!names.insert(lower_copy(name)).second) return;
    found.emplace_back(std::string(name), show(row, options_));
  };
  for (const std::string& pattern : patterns) {
    if (!is_pattern(pattern)) {
      if (const Directive* row = table_.find(pattern)) add(*row, pattern);
      continue;
    }
    for (const Directive* row : table_.rows()) {
      if (row->has(kHidden)) continue;
      if (glob_match(pattern, row->name, true)) add(*row, row->name);
      if (row->alias.empty() || row->has(kAliasUnlisted)) continue;
      if (glob_match(pattern, row->alias, true)) add(*row, row->alias);
    }
  }
  return found;
}

Result<std::vector<ConfigStore::Change>> ConfigStore::resolve(std::span<const Setting> settings,
                                                              const Caller& caller) const {
  std::vector<Change> changes;
  for (const auto& [name, value] : settings) {
    const Directive* row = table_.find(name);
    if (row == nullptr) {
      return Error{
          fmt::format("ERR Unknown option or number of arguments for CONFIG SET - '{}'", name)};
    }
    const bool unchanged = row->has(kOurOwn) && show(*row, options_) == value;
    if (row->has(kStartupOnly) && !unchanged) {
      return set_failed(name, "can't set immutable config");
    }
    if (row->has(kProtected) && !caller.may_set_protected) {
      return set_failed(name, "can't set protected config");
    }
    if (row->has(kNotWhileLoading) && caller.loading) {
      return Error{"LOADING Redis is loading the dataset in memory"};
    }
    const std::string_view spelling = spelling_of(*row, name);
    for (const Change& earlier : changes) {
      if (earlier.spelling == spelling) return set_failed(name, "duplicate parameter");
    }
    changes.push_back({row, spelling, &value});
  }
  return changes;
}

Status ConfigStore::set(std::span<const Setting> settings, const Caller& caller) {
  const Result<std::vector<Change>> changes = resolve(settings, caller);
  if (!changes) return changes.error();
  const std::unique_ptr<Values> before = options_.copy();
  if (Status status = assign_all(*changes); !status) {
    options_.take(*before);
    return status;
  }
  return run_hooks(*changes, *before);
}

Status ConfigStore::assign_all(std::span<const Change> changes) {
  for (const Change& change : changes) {
    const std::vector<std::string> args = split_value(*change.row, *change.value);
    Status status = assign(*change.row, options_, args);
    if (status) status = check_supported(table_, *change.row, options_);
    if (!status) return set_failed(change.spelling, status.error().text);
  }
  const auto normalize = table_.program().normalize;
  if (normalize != nullptr) normalize(options_);
  return {};
}

bool ConfigStore::concerns(const Hook& hook, const Directive& row) {
  if (hook.part == &kWithoutEffect) return row.has(kNoEffectYet) || row.has(kNeedless);
  return hook.part == row.part;
}

Status ConfigStore::run_hooks(std::span<const Change> changes, const Values& before) {
  // Collected before any apply function runs, because it may correct values.
  std::vector<std::pair<const Hook*, std::string_view>> due;
  for (const Change& change : changes) {
    const Directive& row = *change.row;
    if (!row.has(kReapply) && show(row, options_) == show(row, before)) continue;
    for (const Hook& hook : hooks_) {
      if (!concerns(hook, row)) continue;
      const bool listed = std::any_of(due.begin(), due.end(),
                                      [&](const auto& entry) { return entry.first == &hook; });
      if (!listed) due.emplace_back(&hook, change.spelling);
    }
  }
  for (size_t i = 0; i < due.size(); i++) {
    const Status status = due[i].first->apply();
    if (status) continue;
    options_.take(before);
    // Restore the values that were in effect before. If that fails as well, the apply function has
    // logged the error.
    for (size_t j = 0; j <= i; j++) (void)due[j].first->apply();
    return set_failed(due[i].second, status.error().text);
  }
  return {};
}

Status ConfigStore::rewrite(const FileAccess& files, const RewriteRequest& request) const {
  if (config_file_.empty()) return Error{"ERR The server is running without a config file"};
  std::string old_text;
  const bool there = !files.exists || files.exists(config_file_);
  if (there && files.read) {
    Result<std::string> text = files.read(config_file_);
    if (!text) return Error{fmt::format("ERR Rewriting config file: {}", text.error().text)};
    old_text = std::move(*text);
  }
  const std::string new_text = rewrite_config(table_, old_text, options_, request);
  const Status status = files.replace ? files.replace(config_file_, new_text)
                                      : Status(Error{"Operation not supported"});
  if (!status) return Error{fmt::format("ERR Rewriting config file: {}", status.error().text)};
  return {};
}

}  // namespace sorrel::config
