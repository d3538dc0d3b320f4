#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "dispatch/command_table.h"

namespace sorrel {

// What MONITOR, the slow log and crash reports show instead of a secret.
inline constexpr std::string_view kRedacted = "(redacted)";

// Marks the arguments that carry secrets, as far as the request can be understood; when in doubt
// one too many. Empty: none does. Pairs of words and secrets are known for commands that take them;
// of every other command marked kSensitiveArgs all arguments are secret.
std::vector<bool> secret_arguments(const Command& command, std::span<const std::string_view> args);

}  // namespace sorrel
