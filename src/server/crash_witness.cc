#include "server/crash_witness.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "server/info.h"
#include "server/server.h"
#include "session/client_list.h"
#include "session/redaction.h"

namespace sorrel::server {
namespace {

// Of one argument, and of one request.
constexpr size_t kMostShown = 128;
constexpr size_t kMostReportedArguments = 32;
// One line each; more would bury the rest.
constexpr size_t kMostClients = 1000;

const Worker* worker_of(const Server& server, int thread) {
  for (const auto& worker : server.workers()) {
    if (worker->thread_id() == thread) return worker.get();
  }
  return nullptr;
}

void tell_arguments(const Call& call, bool hidden, io::CrashText& out) {
  out.line("argc: '{}'", call.args.size());
  const std::vector<bool> secrets = secret_arguments(call.command, call.args);
  for (size_t i = 0; i < std::min(call.args.size(), kMostReportedArguments); i++) {
    const bool secret = i > 0 && (hidden || (i < secrets.size() && secrets[i]));
    const std::string_view text = call.args[i].substr(0, kMostShown);
    out.line("argv[{}]: '{}'", i, secret ? std::string(kRedacted) : quoted(text));
  }
}

}  // namespace

void CrashWitness::tell_activity(int thread, io::CrashText& out) {
  const Worker* worker = worker_of(server_, thread);
  if (worker == nullptr) {
    out.line("\nThread {} is no worker", thread);
    return;
  }
  const Call* call = worker->executor().current();
  if (call == nullptr) {
    out.line("\nWorker {} runs no command", worker->index());
    return;
  }
  // The second form is what Redis's function of that command is called, which is looked for in
  // reports.
  const std::string_view name(call->command.name);
  out.line("\nWorker {} runs the command '{}' ({}Command) of client {}", worker->index(), name,
           name.substr(0, name.find('|')), call->caller.id);
}

void CrashWitness::tell_more(int thread, io::CrashText& out) {
  tell_current_client(thread, out);
  out.line("\n------ INFO OUTPUT ------");
  constexpr std::array<std::string_view, 1> kAll{"everything"};
  std::string info = info_text(server_, kAll);
  std::erase(info, '\r');
  out.raw(info);
  out.line("\n------ CLIENT LIST OUTPUT ------");
  const int64_t now_ms = server_.clock().wall_ms();
  size_t shown = 0;
  for (const Session* session : all_sessions(server_.sessions())) {
    if (++shown > kMostClients) break;
    out.line("{}", client_line(*session, now_ms));
  }
  out.line("\n------ MODULES INFO OUTPUT ------");
  if (server_.options().logging.crash_memcheck) {
    out.line("\n------ FAST MEMORY TEST ------");
    out.line("Not done: the kernel and the hardware report memory that fails.");
  }
}

void CrashWitness::tell_current_client(int thread, io::CrashText& out) {
  const Worker* worker = worker_of(server_, thread);
  const Call* call = worker == nullptr ? nullptr : worker->executor().current();
  if (call == nullptr) return;
  out.line("\n------ CURRENT CLIENT INFO ------");
  if (const Session* session = find_session(server_.sessions(), call->caller.id)) {
    out.line("{}", client_line(*session, server_.clock().wall_ms()));
  }
  tell_arguments(*call, server_.options().logging.hide_user_data, out);
}

}  // namespace sorrel::server
