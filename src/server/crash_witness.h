#pragma once

#include "io/crash_report.h"

namespace sorrel::server {

class Server;

// What a crash report tells of the server: the command that was running and whose it was, INFO, the
// clients. Arguments that carry secrets are left out, and all of them when hide-user-data-from-log
// says so.
class CrashWitness final : public io::CrashWitness {
 public:
  // `server` outlives the report that this is given to.
  explicit CrashWitness(Server& server) : server_(server) {}

  void tell_activity(int thread, io::CrashText& out) override;
  void tell_more(int thread, io::CrashText& out) override;

 private:
  void tell_current_client(int thread, io::CrashText& out);

  Server& server_;
};

}  // namespace sorrel::server
