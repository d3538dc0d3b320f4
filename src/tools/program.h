#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/check_aof.h"
#include "tools/print.h"

// Shared by the programs of this component: arguments, output and dispatch by name.
namespace sorrel::tools {

Print to_standard_output();
Print to_standard_error();
// Asks at the terminal: an answer that begins with a y is a yes.
AofCheckDialog terminal_dialog();

// Runs the checker that the program's name selects ("redis-check-rdb", "sorrel-check-aof", with or
// without a folder before it), as Redis's server does when it is called so. Returns its exit code,
// or -1 for any other name.
int run_as_checker(int argc, char** argv);

// The arguments without the program's name.
std::vector<std::string> arguments(int argc, char** argv);

}  // namespace sorrel::tools
