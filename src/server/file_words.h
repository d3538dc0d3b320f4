#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/option_table.h"

namespace sorrel::server {

// The words of configuration files that are no directives: users, renamed commands, and words of
// Redis that are ignored or refused.
std::span<const config::FileWord> file_words();

// For Program::unknown_word: settings of modules.
std::string unknown_word_error(std::string_view name, config::Arguments args);

}  // namespace sorrel::server
