#include "session/client_commands.h"

#include <fmt/format.h>

#include <string>

#include "base/bytes.h"
#include "base/excerpt.h"
#include "base/numbers.h"
#include "base/result.h"
#include "dispatch/option_parser.h"
#include "session/client_list.h"
#include "session/connection_commands.h"
#include "session/pause.h"
#include "session/session_call.h"

namespace sorrel {
namespace {

void help(Call& call) {
  answer::help(call, {
                         "CACHING (YES|NO)",
                         "    Track the keys of the next command, or do not (with OPTIN, OPTOUT).",
                         "GETREDIR",
                         "    Tell which connection hears of the keys that this one tracks.",
                         "GETNAME",
                         "    Tell the name of this connection.",
                         "ID",
                         "    Tell the number of this connection.",
                         "INFO",
                         "    Describe this connection as LIST does.",
                         "KILL <ip:port>",
                         "    Close the connection that comes from <ip:port>.",
                         "KILL <option> <value> [<option> <value> [...]]",
                         "    Close every connection that all options hold for:",
                         "    * ADDR (<ip:port>|<unixsocket>:0)",
                         "      it comes from this address",
                         "    * LADDR (<ip:port>|<unixsocket>:0)",
                         "      it was made to this address of ours",
                         "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
                         "      it is of this type",
                         "    * USER <username>",
                         "      this user has logged in on it",
                         "    * ID <client-id>",
                         "      this is its number",
                         "    * MAXAGE <seconds>",
                         "      it is at least this old",
                         "    * SKIPME (YES|NO)",
                         "      leave out this very connection; YES unless told otherwise",
                         "LIST [TYPE (NORMAL|MASTER|REPLICA|PUBSUB) | ID <client-id> [...]]",
                         "    Describe connections: all, those of a type, or those of the numbers.",
                         "NO-EVICT (ON|OFF)",
                         "    Keep this connection when clients use too much memory.",
                         "NO-TOUCH (ON|OFF)",
                         "    Do not count this connection's reads as use of the keys.",
                         "PAUSE <timeout> [WRITE|ALL]",
                         "    Hold back all commands, or only writes, for <timeout> milliseconds.",
                         "REPLY (ON|OFF|SKIP)",
                         "    Answer this connection, do not, or leave out the next reply.",
                         "SETINFO (LIB-NAME|LIB-VER) <value>",
                         "    Note which client library this connection uses.",
                         "SETNAME <name>",
                         "    Name this connection.",
                         "TRACKING (ON|OFF) [REDIRECT <id>] [BCAST] [PREFIX <prefix> [...]]",
                         "         [OPTIN] [OPTOUT] [NOLOOP]",
                         "    Hear when keys change that this connection has read.",
                         "TRACKINGINFO",
                         "    Tell how this connection tracks keys.",
                         "UNBLOCK <client-id> [TIMEOUT|ERROR]",
                         "    Wake a connection that waits in a blocking command.",
                         "UNPAUSE",
                         "    End a pause now.",
                     });
}

// Some subcommands take one option more, but not two.
void too_many_arguments(Call& call) {
  call.reply.error(
      fmt::format("ERR unknown subcommand or wrong number of arguments for '{}'. Try CLIENT HELP.",
                  excerpt(call.arg(1))));
}

void unknown_type(Call& call, std::string_view word) {
  call.reply.error(fmt::format("ERR Unknown client type '{}'", excerpt(word)));
}

void id(Call& call, Session& session) {
  call.reply.integer(static_cast<int64_t>(session.id()));
}

void info(Call& call, Session& session) {
  call.reply.verbatim("txt", client_line(session, call.now_ms()) + '\n');
}

void answer_lines(Call& call, const std::vector<Session*>& sessions) {
  std::string lines;
  for (const Session* session : sessions) {
    lines += client_line(*session, call.now_ms());
    lines += '\n';
  }
  call.reply.verbatim("txt", lines);
}

void list_by_id(Call& call) {
  std::vector<Session*> sessions;
  for (size_t i = 3; i < call.argc(); i++) {
    const auto id = parse_int64(call.arg(i));
    if (!id) return call.reply.error("ERR Invalid client ID");
    Session* session = find_session(call.context<SessionWorld>(), static_cast<uint64_t>(*id));
    if (session != nullptr) sessions.push_back(session);
  }
  answer_lines(call, sessions);
}

void list(Call& call) {
  if (call.argc() > 3 && iequals(call.arg(2), "ID")) return list_by_id(call);
  ClientFilter filter;
  if (call.argc() == 4 && iequals(call.arg(2), "TYPE")) {
    filter.type = parse_client_type(call.arg(3));
    if (!filter.type) return unknown_type(call, call.arg(3));
  } else if (call.argc() != 2) {
    return answer::syntax_error(call);
  }
  std::vector<Session*> sessions = all_sessions(call.context<SessionWorld>());
  std::erase_if(sessions,
                [&](const Session* session) { return !filter.matches(*session, call.now_ms()); });
  answer_lines(call, sessions);
}

Status parse_kill_pair(const acl::Users& users, std::string_view word, std::string_view value,
                       ClientFilter& filter, bool& skip_me) {
  if (iequals(word, "ID")) {
    const auto id = parse_int64(value);
    if (!id || *id < 1) return Error{"ERR client-id should be greater than 0"};
    filter.id = static_cast<uint64_t>(*id);
  } else if (iequals(word, "TYPE")) {
    filter.type = parse_client_type(value);
    if (!filter.type) {
      return Error{fmt::format("ERR Unknown client type '{}'", excerpt(value))};
    }
  } else if (iequals(word, "ADDR")) {
    filter.address = value;
  } else if (iequals(word, "LADDR")) {
    filter.local_address = value;
  } else if (iequals(word, "USER")) {
    if (users.find(value) == nullptr) {
      return Error{fmt::format("ERR No such user '{}'", excerpt(value))};
    }
    filter.user = value;
  } else if (iequals(word, "MAXAGE")) {
    const auto age = parse_int64(value);
    if (!age) return Error{"ERR maxage is not an integer or out of range"};
    if (*age < 1) return Error{"ERR maxage should be greater than 0"};
    filter.min_age_seconds = *age;
  } else if (iequals(word, "SKIPME") && (iequals(value, "yes") || iequals(value, "no"))) {
    skip_me = iequals(value, "yes");
  } else {
    return Error{"ERR syntax error"};
  }
  return {};
}

// `CLIENT KILL address` is the old form; it may hit the caller itself.
Result<ClientFilter> parse_kill(const Call& call, const Session& me) {
  ClientFilter filter;
  if (call.argc() == 3) {
    filter.address = call.arg(2);
    return filter;
  }
  bool skip_me = true;
  for (size_t i = 2; i < call.argc(); i += 2) {
    if (i + 1 == call.argc()) return Error{"ERR syntax error"};
    const acl::Users& users = call.context<SessionWorld>().users;
    if (Status pair = parse_kill_pair(users, call.arg(i), call.arg(i + 1), filter, skip_me);
        !pair) {
      return pair.error();
    }
  }
  if (skip_me) filter.except = &me;
  return filter;
}

void kill(Call& call, Session& me) {
  const auto filter = parse_kill(call, me);
  if (!filter) return call.reply.error(filter.error().text);
  int64_t killed = 0;
  bool kill_me = false;
  for (Session* session : all_sessions(call.context<SessionWorld>())) {
    if (!filter->matches(*session, call.now_ms())) continue;
    killed++;
    if (session == &me) {
      kill_me = true;
    } else {
      session->kill();
    }
  }
  if (call.argc() > 3) {
    call.reply.integer(killed);
  } else if (killed > 0) {
    call.reply.ok();
  } else {
    call.reply.error("ERR No such client");
  }
  // The answer still gets out.
  if (kill_me) me.close_soon(true);
}

void getname(Call& call, Session& session) {
  if (session.name.empty()) return call.reply.null();
  call.reply.bulk(session.name);
}

void setname(Call& call, Session& session) {
  if (!is_printable_word(call.arg(2))) return call.reply.error(kBadClientName);
  session.name = call.arg(2);
  call.reply.ok();
}

void setinfo(Call& call, Session& session) {
  const std::string_view what = call.arg(2);
  std::string* into = iequals(what, "LIB-NAME")  ? &session.library_name
                      : iequals(what, "LIB-VER") ? &session.library_version
                                                 : nullptr;
  if (into == nullptr) {
    return call.reply.error(fmt::format("ERR Unrecognized option '{}'", excerpt(what)));
  }
  if (!is_printable_word(call.arg(3))) {
    return call.reply.error(
        fmt::format("ERR {} cannot contain spaces, newlines or special characters.", what));
  }
  *into = call.arg(3);
  call.reply.ok();
}

void pause(Call& call) {
  if (call.argc() > 4) return too_many_arguments(call);
  auto mode = NodeState::Pause::kAll;
  if (call.argc() == 4) {
    if (iequals(call.arg(3), "WRITE")) {
      mode = NodeState::Pause::kWrites;
    } else if (!iequals(call.arg(3), "ALL")) {
      return call.reply.error("ERR CLIENT PAUSE mode must be WRITE or ALL");
    }
  }
  const auto timeout_ms = parse_int64(call.arg(2));
  if (!timeout_ms) return call.reply.error("ERR timeout is not an integer or out of range");
  if (*timeout_ms < 0) return call.reply.error("ERR timeout is negative");
  const auto until_ms = checked_add(call.now_ms(), *timeout_ms);
  if (!until_ms) return call.reply.error("ERR timeout is out of range");
  begin_pause(call.context<SessionWorld>(), mode, *until_ms, call.now_ms());
  call.reply.ok();
}

void unpause(Call& call) {
  end_pause(call.context<SessionWorld>());
  call.reply.ok();
}

void reply(Call& call, Session& session) {
  const std::string_view mode = call.arg(2);
  if (iequals(mode, "ON")) {
    session.set_reply_mode(Session::ReplyMode::kOn);
    call.reply.ok();
  } else if (iequals(mode, "OFF")) {
    session.set_reply_mode(Session::ReplyMode::kOff);
  } else if (iequals(mode, "SKIP")) {
    if (session.reply_mode() == Session::ReplyMode::kOn) session.skip_next_reply();
  } else {
    answer::syntax_error(call);
  }
}

// False when the word is neither; then it was answered.
bool parse_on_off(Call& call, bool& value) {
  if (!iequals(call.arg(2), "ON") && !iequals(call.arg(2), "OFF")) {
    answer::syntax_error(call);
    return false;
  }
  value = iequals(call.arg(2), "ON");
  return true;
}

void no_evict(Call& call) {
  if (parse_on_off(call, call.caller.no_evict)) call.reply.ok();
}

void no_touch(Call& call) {
  if (parse_on_off(call, call.caller.no_touch)) call.reply.ok();
}

// Who waits for the end of a pause is not meant.
void unblock(Call& call) {
  if (call.argc() > 4) return too_many_arguments(call);
  if (call.argc() == 4 && !iequals(call.arg(3), "TIMEOUT") && !iequals(call.arg(3), "ERROR")) {
    return call.reply.error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
  }
  const auto id = parse_int64(call.arg(2));
  if (!id) return answer::not_an_integer(call);
  Session* session = find_session(call.context<SessionWorld>(), static_cast<uint64_t>(*id));
  const bool with_error = call.argc() == 4 && iequals(call.arg(3), "ERROR");
  call.reply.integer(session != nullptr && session->end_wait(with_error) ? 1 : 0);
}

constexpr Binding kClientBindings[] = {
    {"client|getname", &with_session<getname>},
    {"client|help", &help},
    {"client|id", &with_session<id>},
    {"client|info", &with_session<info>},
    {"client|kill", &with_session<kill>},
    {"client|list", &list},
    {"client|no-evict", &no_evict},
    {"client|no-touch", &no_touch},
    {"client|pause", &pause},
    {"client|reply", &with_session<reply>},
    {"client|setinfo", &with_session<setinfo>},
    {"client|setname", &with_session<setname>},
    {"client|unblock", &unblock},
    {"client|unpause", &unpause},
};

}  // namespace

std::span<const Binding> client_bindings() {
  return kClientBindings;
}

}  // namespace sorrel
