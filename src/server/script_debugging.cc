#include "server/script_debugging.h"

#include <fmt/format.h>

#include "io/blocking_line.h"
#include "io/process.h"
#include "resp/reply_writer.h"
#include "server/server.h"

namespace sorrel::server {
namespace {

sorrel::Session& session_of(const Call& call) {
  return *static_cast<SessionCaller&>(call.caller).session;
}

class SocketLink final : public script::DebugLink {
 public:
  // Whoever wants the server to end does not want to wait for somebody who debugs.
  explicit SocketLink(const Call& call)
      : line_(session_of(call).stream()->descriptor(), io::is_termination_pending) {}

  bool receive(std::string& into) override { return line_.receive(into); }
  void send(std::string_view bytes) override { (void)line_.send(bytes); }

 private:
  io::BlockingLine line_;
};

// In the other process: what is logged is told to the parent, whose log it is.
class VoiceLogger final : public Logger {
 public:
  explicit VoiceLogger(persist::ChildVoice& voice) : voice_(voice) {}
  void write(LogLevel level, std::string_view message) override { voice_.log(level, message); }
  void write_raw(std::string_view) override {}

 private:
  persist::ChildVoice& voice_;
};

}  // namespace

std::string_view ScriptDebugging::refusal(const Call& call) const {
  const sorrel::Session& session = session_of(call);
  if (session.host().has_unsent_answers()) {
    return "ERR SCRIPT DEBUG must be called outside a pipeline";
  }
  if (session.stream()->is_encrypted()) {
    return "ERR SCRIPT DEBUG is not available over TLS";
  }
  return {};
}

// Whatever was answered so far is with the kernel when the session begins. False: an error was
// answered.
bool ScriptDebugging::make_ready(Call& call) {
  const sorrel::Session& session = session_of(call);
  session.host().send_early();
  if (session.output_bytes() == 0 && !session.closing()) return true;
  call.reply.error("ERR Scripts can't be debugged while earlier answers are on their way");
  return false;
}

void ScriptDebugging::talk_in_place(Call& call, const Session& session) {
  if (!make_ready(call)) return;
  server_.log().notice("A script is being debugged; nobody else is served meanwhile");
  SocketLink link(call);
  session(call, link);
  server_.log().notice("The debugging of a script has ended");
  // That is how the peer sees that the session is over.
  session_of(call).close_soon(true);
}

void ScriptDebugging::talk_apart(Call& call, const Session& session) {
  if (!make_ready(call)) return;
  if (processes_.size() >= kMostProcesses) {
    return call.reply.error("ERR Too many scripts are being debugged already");
  }
  auto process = std::make_unique<persist::Child>(server_.clock(), server_.log());
  const auto work = [&](persist::ChildVoice& voice) { return work_apart(call, session, voice); };
  const Status started = process->start(persist::ChildKind::kDebugging, 0, work,
                                        session_of(call).stream()->descriptor());
  if (!started) {
    return call.reply.error("ERR Fork() failed: can't run EVAL in debugging mode: " +
                            started.error().text);
  }
  server_.persistence().count_fork(process->last_fork_us());
  server_.log().notice(fmt::format("A script is being debugged by pid {}", process->pid()));
  processes_.push_back(std::move(process));
  // The connection is the other's from now on.
  session_of(call).close_soon(false);
}

// ---------------------------------------------------------------- in the other process

Status ScriptDebugging::work_apart(Call& call, const Session& session, persist::ChildVoice& voice) {
  VoiceLogger log(voice);
  server_.scripting().set_log(log);
  leave_everything_alone(call);
  SocketLink link(call);
  resp::OutputBuffer out;
  resp::ReplyWriter reply(out, call.caller.protocol);
  Call here{call.command, call.args,    call.caller,  reply,        call.keys,
            call.rewrite, call.request, call.waiting, call.executor};
  session(here, link);
  link.send(out.view());
  return {};
}

// This is the only thread, and what it has is a copy: nothing that it does may be heard of outside,
// nor wait for a thread that is not there.
void ScriptDebugging::leave_everything_alone(Call& call) {
  server_.reclaimer().work_alone();
  server_.keyspace().end_keeping();
  call.executor.effects().set_audience(Audience::kNobody);
  server_.hub().set_notifications(nullptr);
  server_.hub().set_tracking(nullptr);
  server_.leave_observers();
  server_.options().persistence.save.clear();
  script::ScriptingHooks& hooks = server_.scripting().hooks;
  hooks = {};
}

// ---------------------------------------------------------------- their parent

void ScriptDebugging::cron() {
  std::erase_if(processes_, [this](const std::unique_ptr<persist::Child>& process) {
    const auto end = process->poll();
    if (end) server_.log().notice(fmt::format("The debugging by pid {} has ended", end->pid));
    return end.has_value();
  });
}

void ScriptDebugging::end_all() {
  for (const auto& process : processes_) (void)process->kill_and_wait();
  processes_.clear();
}

}  // namespace sorrel::server
