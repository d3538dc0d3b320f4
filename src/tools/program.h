#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/check_aof.h"
#include "tools/print.h"

// What the programs of this room share: how they are called and where their words go.
namespace sorrel::tools {

Print to_standard_output();
Print to_standard_error();
// Asks at the terminal: what begins with a y is a yes.
AofCheckDialog terminal_dialog();

// Runs the checker that the program's name asks for ("redis-check-rdb", "sorrel-check-aof", with or
// without a folder before it), as Redis's server does when it is called so. Returns its exit code,
// or -1 when the name is none of these.
int run_as_checker(int argc, char** argv);

// The arguments without the program's name.
std::vector<std::string> arguments(int argc, char** argv);

}  // namespace sorrel::tools
