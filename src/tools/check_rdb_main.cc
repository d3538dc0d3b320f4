// sorrel-check-rdb: checks an RDB file.

#include "io/process.h"
#include "tools/check_rdb.h"
#include "tools/program.h"

int main(int argc, char** argv) {
  using namespace sorrel::tools;
  sorrel::io::end_on_cut_files();
  return check_rdb_program(argv[0], arguments(argc, argv), to_standard_output(),
                           to_standard_error());
}
