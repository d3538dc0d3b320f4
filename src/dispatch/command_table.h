#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"

namespace sorrel {

struct Call;
struct Command;
using Handler = void (*)(Call&);
// The catalog flags of a request whose arguments decide them: scripts declare them in their first
// line. Called by admission, inside a batch, with no latch held.
using ActsOf = uint64_t (*)(const Command&, std::span<const std::string_view> args);

// Waits for an external resource that a command needs, such as a name look-up: called in a
// batch, before an exclusive section begins, so that other workers go on. Not called where no
// section is entered: the handler does it itself then.
using Prepare = void (*)(const Command&, std::span<const std::string_view> args);

// Ties a catalog entry ("get", "config|get") to its handler. `context` is an object of the
// handler's component, such as the option store; families that need none leave it out.
struct Binding {
  std::string_view name;
  Handler handler;
  void* context = nullptr;
  ActsOf acts_of = nullptr;  // null: the flags of its entry
  Prepare prepare = nullptr;
};

// A command ready to run. Lives as long as the table.
struct Command {
  const catalog::CommandSpec* spec = nullptr;
  Handler handler = nullptr;
  void* context = nullptr;
  ActsOf acts_of = nullptr;
  Prepare prepare = nullptr;
  std::string name;    // as in COMMAND INFO and statistics: "get", "config|get"
  uint32_t index = 0;  // its position in catalog::all()
  uint64_t flags = 0;
  int arity = 0;
  catalog::Locking locking = catalog::Locking::kGate;
  // Position of the key of commands that have exactly one, always in the same place; otherwise 0.
  uint8_t only_key = 0;
  // Position of the first key, for prefetching; 0: none, or not at a fixed place.
  uint8_t first_key = 0;
  std::vector<const Command*> subcommands;
  bool plain = false;  // runs as it is: has a handler and no subcommands to choose from
  const Command* parent = nullptr;

  bool has(uint64_t flag) const { return (flags & flag) != 0; }
  uint64_t acts(std::span<const std::string_view> args) const {
    return acts_of == nullptr ? flags : acts_of(*this, args);
  }
  // The arity once more, as a range: fewest arguments and how many more there may be.
  uint32_t min_args = 0;
  uint32_t more_args = 0;
  bool arity_fits(size_t argc) const { return argc - min_args <= more_args; }
  // nullptr when there is none of that name.
  const Command* subcommand(std::string_view word) const;
};

// Every command by name, built once at start and never changed afterwards.
class CommandTable {
 public:
  // An Error names a binding without a catalog entry. Entries without a handler cannot be called;
  // unbound() names them, and a test wants it empty.
  static Result<std::unique_ptr<CommandTable>> build(std::span<const Binding> bindings);

  std::span<const std::string> unbound() const { return unbound_; }

  // rename-command; an empty `to` takes the command away. Only before the server starts. Nothing
  // happens to commands of catalog::known() that do not exist.
  Status rename(std::string_view from, std::string_view to);

  // Case-insensitive; nullptr when there is none. Containers and plain commands, not subcommands.
  const Command* find(std::string_view name) const {
    const Place* place = find_place(name, fold(name));
    return place == nullptr ? nullptr : place->command;
  }

  // The command of a whole request: the subcommand when its container has one of that name.
  const Command* find_request(std::span<const std::string_view> args) const {
    const Command* command = find(args[0]);
    if (command == nullptr || command->subcommands.empty() || args.size() < 2) return command;
    return command->subcommand(args[1]);
  }

  // The same with a memory of the last result: pipelines tend to repeat commands.
  struct Recent {
    uint64_t folded = 0;
    size_t length = 0;
    const Command* command = nullptr;
  };
  const Command* find(std::string_view name, Recent& recent) const {
    const uint64_t folded = fold(name);
    if (folded == recent.folded && name.size() == recent.length) return recent.command;
    const Place* place = find_place(name, folded);
    if (place == nullptr) return nullptr;
    if (place->exact) recent = {folded, name.size(), place->command};
    return place->command;
  }

  // The containers and plain commands that can be called under some name, in catalog order; a
  // container of which nothing is bound is left out.
  std::vector<const Command*> listed() const;

  // By index; subcommands included.
  std::span<const std::unique_ptr<Command>> all() const { return commands_; }

 private:
  static constexpr size_t kPlaces = 1024;
  struct Place {
    uint64_t folded = 0;
    uint32_t length = 0;
    bool exact = false;  // fold and length alone identify it: at most eight letters
    const Command* command = nullptr;
    std::string name;
  };

  // The first and last bytes in lower case; together with the length it is unique up to 8 letters.
  static uint64_t fold(std::string_view name);
  static size_t place_of(uint64_t folded, size_t length) {
    return ((folded + length) * 0x9e3779b97f4a7c15ull) >> 54;
  }
  const Place* find_place(std::string_view name, uint64_t folded) const {
    for (size_t at = place_of(folded, name.size());; at = (at + 1) & (kPlaces - 1)) {
      const Place& place = places_[at];
      if (place.command == nullptr) return nullptr;
      if (place.folded == folded && place.length == name.size() &&
          (place.exact || spelled_alike(place, name))) {
        return &place;
      }
    }
  }
  static bool spelled_alike(const Place& place, std::string_view name);
  void put(std::string_view name, const Command* command);
  void rebuild();

  std::array<Place, kPlaces> places_;
  std::vector<std::unique_ptr<Command>> commands_;
  std::vector<std::string> unbound_;
  std::vector<std::pair<std::string, const Command*>> names_;  // input of rebuild()
};

inline uint64_t CommandTable::fold(std::string_view name) {
  constexpr uint64_t kLower = 0x2020202020202020ull;
  const char* at = name.data();
  const size_t length = name.size();
  if (length >= 8) {
    uint64_t first;
    uint64_t last;
    __builtin_memcpy(&first, at, 8);
    __builtin_memcpy(&last, at + length - 8, 8);
    return (first | kLower) ^ ((last | kLower) * (length > 8));
  }
  if (length >= 4) {
    uint32_t first;
    uint32_t last;
    __builtin_memcpy(&first, at, 4);
    __builtin_memcpy(&last, at + length - 4, 4);
    return (first | uint64_t{last} << 32) | kLower;
  }
  if (length >= 2) {
    uint16_t first;
    uint16_t last;
    __builtin_memcpy(&first, at, 2);
    __builtin_memcpy(&last, at + length - 2, 2);
    return (first | uint64_t{last} << 32) | kLower;
  }
  return length == 0 ? 0 : static_cast<unsigned char>(*at) | kLower;
}

}  // namespace sorrel
