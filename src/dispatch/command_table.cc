#include "dispatch/command_table.h"

#include <algorithm>
#include <cstdlib>

#include "base/bytes.h"

namespace sorrel {
namespace {

bool only_letters(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    const char lower = to_lower(c);
    return lower >= 'a' && lower <= 'z';
  });
}

void find_fixed_keys(const catalog::CommandSpec& spec, Command& command) {
  using catalog::KeySpec;
  if (spec.keys.empty()) return;
  const KeySpec& first = spec.keys[0];
  if (first.begin != KeySpec::Begin::kIndex || first.find != KeySpec::Find::kRange) return;
  if (first.index <= 0 || first.index > 255 || (first.flags & catalog::kKeyNotKey) != 0) return;
  command.first_key = static_cast<uint8_t>(first.index);
  if (spec.keys.size() == 1 && first.last == 0) command.only_key = command.first_key;
}

}  // namespace

const Command* Command::subcommand(std::string_view word) const {
  for (const Command* sub : subcommands) {
    if (iequals(sub->spec->name, word)) return sub;
  }
  return nullptr;
}

bool CommandTable::spelled_alike(const Place& place, std::string_view name) {
  return iequals(place.name, name);
}

Result<std::unique_ptr<CommandTable>> CommandTable::build(std::span<const Binding> bindings) {
  auto table = std::make_unique<CommandTable>();
  std::vector<bool> used(bindings.size(), false);
  for (const catalog::CommandSpec* spec : catalog::all()) {
    auto command = std::make_unique<Command>();
    command->spec = spec;
    command->name = catalog::full_name(*spec);
    command->index = static_cast<uint32_t>(table->commands_.size());
    command->flags = catalog::effective_flags(*spec);
    command->arity = spec->arity;
    command->min_args = static_cast<uint32_t>(std::abs(spec->arity));
    command->more_args = spec->arity < 0 ? UINT32_MAX : 0;
    command->locking = spec->locking;
    find_fixed_keys(*spec, *command);
    const auto binding = std::find_if(bindings.begin(), bindings.end(),
                                      [&](const Binding& b) { return b.name == command->name; });
    if (binding != bindings.end()) {
      command->handler = binding->handler;
      command->acts_of = binding->acts_of;
      command->prepare = binding->prepare;
      command->context = binding->context;
      used[static_cast<size_t>(binding - bindings.begin())] = true;
    } else if (!spec->container) {
      table->unbound_.push_back(command->name);
    }
    table->commands_.push_back(std::move(command));
  }
  for (size_t i = 0; i < bindings.size(); i++) {
    if (!used[i]) return Error{"no catalog entry for handler " + std::string(bindings[i].name)};
  }
  for (const auto& command : table->commands_) {
    if (command->handler == nullptr && !command->spec->container) continue;
    if (command->spec->parent.empty()) {
      table->names_.emplace_back(std::string(command->spec->name), command.get());
      continue;
    }
    const auto parent =
        std::find_if(table->commands_.begin(), table->commands_.end(),
                     [&](const auto& other) { return other->name == command->spec->parent; });
    if (parent == table->commands_.end()) return Error{"no container for " + command->name};
    (*parent)->subcommands.push_back(command.get());
    command->parent = parent->get();
  }
  for (const auto& command : table->commands_) {
    command->plain = command->handler != nullptr && command->subcommands.empty();
  }
  table->rebuild();
  return table;
}

Status CommandTable::rename(std::string_view from, std::string_view to) {
  const auto named = [this](std::string_view name) {
    return std::find_if(names_.begin(), names_.end(),
                        [name](const auto& pair) { return iequals(pair.first, name); });
  };
  const auto entry = named(from);
  if (entry == names_.end()) {
    // A command of Redis that does not exist here yet has no name to lose.
    const bool missing =
        catalog::find_known(from) != nullptr && catalog::find_full(from) == nullptr;
    if (missing && from.find('|') == from.npos) return {};
    return Error{"No such command in rename-command"};
  }
  const Command* command = entry->second;
  names_.erase(entry);
  if (!to.empty()) {
    if (named(to) != names_.end()) return Error{"Target command name already exists"};
    names_.emplace_back(std::string(to), command);
  }
  rebuild();
  return {};
}

std::vector<const Command*> CommandTable::listed() const {
  std::vector<const Command*> commands;
  for (const auto& [name, command] : names_) {
    if (command->handler != nullptr || !command->subcommands.empty()) commands.push_back(command);
  }
  std::sort(commands.begin(), commands.end(),
            [](const Command* a, const Command* b) { return a->index < b->index; });
  return commands;
}

void CommandTable::put(std::string_view name, const Command* command) {
  const uint64_t folded = fold(name);
  size_t at = place_of(folded, name.size());
  while (places_[at].command != nullptr) at = (at + 1) & (kPlaces - 1);
  places_[at] = {folded, static_cast<uint32_t>(name.size()), name.size() <= 8 && only_letters(name),
                 command, std::string(name)};
}

void CommandTable::rebuild() {
  places_.fill({});
  for (const auto& [name, command] : names_) put(name, command);
}

}  // namespace sorrel
