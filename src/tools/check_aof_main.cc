// sorrel-check-aof: checks an AOF and repairs it on request.

#include "io/process.h"
#include "tools/check_aof.h"
#include "tools/program.h"

int main(int argc, char** argv) {
  using namespace sorrel::tools;
  sorrel::io::end_on_cut_files();
  return check_aof_program(argv[0], arguments(argc, argv), terminal_dialog());
}
