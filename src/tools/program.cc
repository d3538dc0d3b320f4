#include "tools/program.h"

#include <cstdio>

#include "io/process.h"
#include "io/system_clock.h"
#include "tools/check_rdb.h"

namespace sorrel::tools {

Print to_standard_output() {
  return [](std::string_view text) { fwrite(text.data(), 1, text.size(), stdout); };
}

Print to_standard_error() {
  return [](std::string_view text) {
    fflush(stdout);
    fwrite(text.data(), 1, text.size(), stderr);
  };
}

AofCheckDialog terminal_dialog() {
  return {.print = to_standard_output(),
          .confirm =
              [] {
                fflush(stdout);
                const int answer = getchar();
                return answer == 'y' || answer == 'Y';
              },
          .now_ms = io::SystemClock().wall_ms()};
}

int run_as_checker(int argc, char** argv) {
  std::string_view name = argc > 0 ? argv[0] : "";
  name.remove_prefix(name.rfind('/') + 1);
  const std::vector<std::string> args = arguments(argc, argv);
  if (name == "redis-check-rdb" || name == "sorrel-check-rdb") {
    io::end_on_cut_files();
    return check_rdb_program(argv[0], args, to_standard_output(), to_standard_error());
  }
  if (name == "redis-check-aof" || name == "sorrel-check-aof") {
    io::end_on_cut_files();
    return check_aof_program(argv[0], args, terminal_dialog());
  }
  return -1;
}

std::vector<std::string> arguments(int argc, char** argv) {
  return argc > 1 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>();
}

}  // namespace sorrel::tools
