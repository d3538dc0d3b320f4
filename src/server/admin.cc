#include "server/admin.h"

#include "io/process.h"
#include "server/info.h"
#include "server/memory_commands.h"
#include "server/server.h"
#include "server/user_files.h"

namespace sorrel::server {
namespace {

void change_replication_id(Server& server) {
  if (auto id = io::random_hex(40)) server.facts().replication_id = *id;
}

Status rewrite_all_config(Server& server) {
  config::RewriteRequest request;
  request.force_all = true;
  request.words.push_back({"user", user_lines(server.options(), server.sessions().users)});
  return server.config().rewrite(server.files(), request);
}

}  // namespace

Admin::Admin(Server& server)
    : server_(server),
      observer_(command_logs_, latency_monitor_, server.sessions(), server.clock()),
      acl_{.sessions = server.sessions(), .options = server.options(), .files = server.files()},
      database_{.options = server.options(),
                .clock = server.clock(),
                .log = server.log(),
                .stop = [&server](int code) { server.stop_now(code); },
                .abort_stop = [&server] { return server.abort_stop(); },
                .node = &server.node(),
                .persistence = &server.persistence()},
      debug_{.options = server.options(),
             .log = server.log(),
             .expiry = server.expiry(),
             .change_replication_id = [&server] { change_replication_id(server); },
             .persistence = server.persistence(),
             .rewrite_all_config = [&server] { return rewrite_all_config(server); },
             .settings = {}},
      latency_{.monitor = latency_monitor_,
               .node = server.node(),
               .clock = server.clock(),
               .statistics = [&server] { return server.command_statistics(); },
               .table = nullptr},
      modules_{.options = server.options(), .log = server.log()},
      migrate_(server.clock(), [&server] { return server.cluster_tls(); }) {}

std::vector<Binding> Admin::bindings() {
  std::vector<Binding> all;
  const auto add = [&all](const std::vector<Binding>& family) {
    all.insert(all.end(), family.begin(), family.end());
  };
  add(commands::command_bindings(command_));
  add(acl_bindings(acl_));
  add(database_bindings(database_));
  add(debug_bindings(debug_));
  add(info_bindings(server_));
  add(latency_bindings(latency_));
  add(memory_bindings(server_));
  add(module_bindings(modules_));
  add(migrate_.bindings());
  add(command_log_bindings(command_logs_));
  return all;
}

}  // namespace sorrel::server
