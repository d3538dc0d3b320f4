#include "commands/families.h"

namespace sorrel::commands {

std::vector<std::span<const Binding>> families() {
  return {
      string_bindings(),
      string_set_bindings(),
      string_counter_bindings(),
      bitmap_bindings(),
      keys_bindings(),
  };
}

}  // namespace sorrel::commands
