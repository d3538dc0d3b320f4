#include "session/connection_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/excerpt.h"
#include "base/numbers.h"
#include "dispatch/call.h"
#include "dispatch/option_parser.h"
#include "session/access.h"
#include "session/session_call.h"

namespace sorrel {
namespace {

void ping(Call& call) {
  if (call.argc() > 2) return answer::wrong_arity(call);
  if ((call.caller.reasons & Caller::kSubscribed) != 0) {
    // In the shape of a message, so that who listens can tell what it is.
    call.reply.array(2);
    call.reply.bulk("pong");
    return call.reply.bulk(call.argc() == 2 ? call.arg(1) : "");
  }
  if (call.argc() == 2) return call.reply.bulk(call.arg(1));
  call.reply.simple("PONG");
}

void echo(Call& call) {
  call.reply.bulk(call.arg(1));
}

void quit(Call& call, Session& session) {
  call.reply.ok();
  session.close_soon(true);
}

// Also part of logs that are replayed, so it knows only the caller.
void select(Call& call) {
  const auto index = parse_int64(call.arg(1));
  if (!index) return answer::not_an_integer(call);
  constexpr int64_t kLeast = std::numeric_limits<int>::min();
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  if (*index < kLeast || *index > kMost) {
    return call.reply.error(
        fmt::format("ERR value is out of range, value must between {} and {}", kLeast, kMost));
  }
  if (*index < 0 || *index >= call.keys.keyspace().database_count()) {
    return call.reply.error("ERR DB index is out of range");
  }
  call.caller.db = static_cast<int>(*index);
  call.reply.ok();
}

bool log_in(Call& call, Session& session, std::string_view name, std::string_view password) {
  SessionWorld& world = call.context<SessionWorld>();
  acl::AccountHandle account = world.users.find(name);
  // Whether there is a user of that name takes as long to find out as whether the password is
  // right.
  const acl::User& user = account != nullptr ? account->user() : world.users.default_user();
  if (user.accepts(password) && account != nullptr) {
    session.log_in(std::move(account));
    return true;
  }
  note_denial(world, call.caller,
              {.reason = acl::Reason::kAuth,
               .object = std::string(call.arg(0)),
               .user = std::string(name)});
  call.reply.error("WRONGPASS invalid username-password pair or user is disabled.");
  return false;
}

void auth(Call& call, Session& session) {
  if (call.argc() > 3) return answer::syntax_error(call);
  const bool named = call.argc() == 3;
  if (!named && call.context<SessionWorld>().users.default_user().no_password) {
    return call.reply.error(
        "ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?");
  }
  if (log_in(call, session, named ? call.arg(1) : "default", call.args.back())) call.reply.ok();
}

struct HelloRequest {
  std::optional<int> protocol;
  std::optional<std::string_view> user;
  std::string_view password;
  std::optional<std::string_view> name;
};

// False when it was answered with an error.
bool parse_hello(Call& call, HelloRequest& hello) {
  if (call.argc() == 1) return true;
  const auto version = parse_int64(call.arg(1));
  if (!version) {
    call.reply.error("ERR Protocol version is not an integer or out of range");
    return false;
  }
  if (*version < 2 || *version > 3) {
    call.reply.error("NOPROTO unsupported protocol version");
    return false;
  }
  hello.protocol = static_cast<int>(*version);
  OptionParser options(call.args, 2);
  while (options.more()) {
    if (options.word("AUTH", 2)) {
      hello.user = options.text();
      hello.password = options.text();
    } else if (options.word("SETNAME", 1)) {
      hello.name = options.text();
      if (!is_printable_word(*hello.name)) {
        call.reply.error(kBadClientName);
        return false;
      }
    } else {
      call.reply.error(
          fmt::format("ERR Syntax error in HELLO option '{}'", excerpt(options.text())));
      return false;
    }
  }
  return true;
}

void answer_hello(Call& call, const Session& session) {
  const SessionWorld& world = call.context<SessionWorld>();
  call.reply.map(7);
  call.reply.bulk("server");
  call.reply.bulk("redis");
  call.reply.bulk("version");
  call.reply.bulk(world.options.announced_version);
  call.reply.bulk("proto");
  call.reply.integer(session.caller().protocol);
  call.reply.bulk("id");
  call.reply.integer(static_cast<int64_t>(session.id()));
  call.reply.bulk("mode");
  call.reply.bulk("standalone");
  call.reply.bulk("role");
  call.reply.bulk("master");
  call.reply.bulk("modules");
  call.reply.array(0);
}

void hello(Call& call, Session& session) {
  HelloRequest hello;
  if (!parse_hello(call, hello)) return;
  if (hello.user && !log_in(call, session, *hello.user, hello.password)) return;
  if (!session.caller().authenticated()) {
    return call.reply.error(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
        "<proto> AUTH <user> <pass> option can be used to authenticate the client and select the "
        "RESP protocol version at the same time");
  }
  if (hello.name) session.name = *hello.name;
  if (hello.protocol) session.set_protocol(*hello.protocol);
  answer_hello(call, session);
}

void reset(Call& call, Session& session) {
  session.reset_state();
  call.reply.simple("RESET");
}

// READONLY, READWRITE: there is no cluster whose slots they could be about.
void no_cluster(Call& call) {
  call.reply.error("ERR This instance has cluster support disabled");
}

constexpr Binding kConnectionBindings[] = {
    {"ping", &ping},
    {"readonly", &no_cluster},
    {"readwrite", &no_cluster},
    {"echo", &echo},
    {"select", &select},
    {"quit", &with_session<quit>},
    {"auth", &with_session<auth>},
    {"hello", &with_session<hello>},
    {"reset", &with_session<reset>},
};

}  // namespace

std::span<const Binding> connection_bindings() {
  return kConnectionBindings;
}

bool is_printable_word(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '!' && c <= '~'; });
}

}  // namespace sorrel
