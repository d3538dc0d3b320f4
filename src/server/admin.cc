#include "server/admin.h"

#include "server/info.h"
#include "server/server.h"

namespace sorrel::server {

Admin::Admin(Server& server)
    : server_(server),
      database_{.options = server.options(),
                .clock = server.clock(),
                .log = server.log(),
                .stop = [&server](int code) { server.request_stop(code); }} {}

std::vector<Binding> Admin::bindings() {
  std::vector<Binding> all;
  const auto add = [&all](const std::vector<Binding>& family) {
    all.insert(all.end(), family.begin(), family.end());
  };
  add(commands::command_bindings(command_));
  add(database_bindings(database_));
  add(info_bindings(server_));
  return all;
}

}  // namespace sorrel::server
