// sorrel-rdb: reports the keys in an RDB file and their memory.

#include "io/process.h"
#include "tools/program.h"
#include "tools/rdb_report.h"

int main(int argc, char** argv) {
  using namespace sorrel::tools;
  sorrel::io::end_on_cut_files();
  return rdb_report_program(argv[0], arguments(argc, argv), to_standard_output(),
                            to_standard_error());
}
