#pragma once

#include <span>
#include <string_view>

#include "dispatch/command_table.h"

namespace sorrel {

// PING, ECHO, QUIT, SELECT, HELLO, AUTH, RESET. Their context is the SessionWorld; see
// session_bindings().
std::span<const Binding> connection_bindings();

// May a connection, or a library it uses, be called so? Blanks and line ends would break the lines
// of CLIENT LIST.
bool is_printable_word(std::string_view text);
inline constexpr std::string_view kBadClientName =
    "ERR Client names cannot contain spaces, newlines or special characters.";

}  // namespace sorrel
