#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "dispatch/command_table.h"
#include "io/outgoing_line.h"

namespace sorrel::server {

// MIGRATE, and the lines to other servers that it keeps for the next one. Everything under the
// gate: nobody may see a key in both servers, or in none, so nobody does anything meanwhile, as in
// Redis.
class Migrate {
 public:
  explicit Migrate(const Clock& clock) : clock_(clock) {}

  std::vector<Binding> bindings();
  // Closes lines that nobody has used for a while.
  void cron();
  size_t kept_lines() const { return lines_.size(); }

  struct Line {
    io::OutgoingLine io;
    int64_t db = -1;  // that the other side has selected; -1: unknown
    int64_t used_ms = 0;
  };

 private:
  static void run(Call& call);

  const Clock& clock_;
  std::map<std::string, Line> lines_;  // by address
};

}  // namespace sorrel::server
