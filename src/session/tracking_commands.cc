#include "session/tracking_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/bytes.h"
#include "base/numbers.h"
#include "base/result.h"
#include "dispatch/option_parser.h"
#include "session/client_list.h"
#include "session/session_call.h"

namespace sorrel {
namespace {

// The options behind ON or OFF; OFF reads them too and does nothing with them.
Result<TrackingState> parse_options(Call& call) {
  TrackingState wanted;
  OptionParser options(call.args, 3);
  while (options.more()) {
    if (options.word("REDIRECT", 1)) {
      const std::string_view text = options.text();
      if (wanted.redirect != 0) {
        return Error{"ERR A client can only redirect to a single other client"};
      }
      const auto id = parse_int64(text);
      if (!id) return Error{"ERR value is not an integer or out of range"};
      const Session* to = find_session(call.context<SessionWorld>(), static_cast<uint64_t>(*id));
      if (to == nullptr) {
        return Error{"ERR The client ID you want redirect to does not exist"};
      }
      wanted.redirect = to->id();
      wanted.redirect_worker = to->host().executor().worker();
    } else if (options.word("PREFIX", 1)) {
      wanted.prefixes.emplace_back(options.text());
    } else if (options.word("BCAST")) {
      wanted.broadcast = true;
    } else if (options.word("OPTIN")) {
      wanted.opt_in = true;
    } else if (options.word("OPTOUT")) {
      wanted.opt_out = true;
    } else if (options.word("NOLOOP")) {
      wanted.no_loop = true;
    } else {
      return Error{"ERR syntax error"};
    }
  }
  return wanted;
}

bool overlap(std::string_view a, std::string_view b) {
  return a.starts_with(b) || b.starts_with(a);
}

Status check_prefixes(const TrackingState* before, const std::vector<std::string>& prefixes) {
  const auto refusal = [](std::string_view prefix, std::string_view how, std::string_view other) {
    return Error{fmt::format(
        "ERR Prefix '{}' overlaps with {} prefix '{}'. Prefixes for a single client must not "
        "overlap.",
        prefix, how, other)};
  };
  for (size_t i = 0; i < prefixes.size(); i++) {
    if (before != nullptr) {
      for (const std::string& known : before->prefixes) {
        if (overlap(known, prefixes[i])) return refusal(prefixes[i], "an existing", known);
      }
    }
    for (size_t j = i + 1; j < prefixes.size(); j++) {
      if (overlap(prefixes[i], prefixes[j])) {
        return refusal(prefixes[i], "another provided", prefixes[j]);
      }
    }
  }
  return {};
}

// Do the options go together, and with what the session has asked for before?
Status check_tracking(const TrackingState* before, const TrackingState& wanted) {
  if (!wanted.broadcast && !wanted.prefixes.empty()) {
    return Error{"ERR PREFIX option requires BCAST mode to be enabled"};
  }
  if (before != nullptr && before->broadcast != wanted.broadcast) {
    return Error{
        "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and "
        "then re-enabling it with a different mode."};
  }
  if (wanted.broadcast && (wanted.opt_in || wanted.opt_out)) {
    return Error{"ERR OPTIN and OPTOUT are not compatible with BCAST"};
  }
  if (wanted.opt_in && wanted.opt_out) {
    return Error{"ERR You can't specify both OPTIN mode and OPTOUT mode"};
  }
  if (before != nullptr &&
      ((wanted.opt_in && before->opt_out) || (wanted.opt_out && before->opt_in))) {
    return Error{
        "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and "
        "then re-enabling it with a different mode."};
  }
  return wanted.broadcast ? check_prefixes(before, wanted.prefixes) : Status{};
}

void tracking(Call& call, Session& session) {
  auto wanted = parse_options(call);
  if (!wanted) return call.reply.error(wanted.error().text);
  Tracking& all = call.context<SessionWorld>().tracking;
  if (iequals(call.arg(2), "ON")) {
    if (Status fits = check_tracking(session.tracking(), *wanted); !fits) {
      return call.reply.error(fits.error().text);
    }
    // Without a prefix every key is meant.
    if (wanted->broadcast && wanted->prefixes.empty()) wanted->prefixes.emplace_back();
    all.enable(session, std::move(*wanted));
  } else if (iequals(call.arg(2), "OFF")) {
    all.disable(session);
  } else {
    return answer::syntax_error(call);
  }
  call.reply.ok();
}

void caching(Call& call, Session& session) {
  TrackingState* state = session.tracking();
  if (state == nullptr) {
    return call.reply.error(
        "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or "
        "OPTOUT mode enabled");
  }
  if (iequals(call.arg(2), "YES")) {
    if (!state->opt_in) {
      return call.reply.error(
          "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.");
    }
  } else if (iequals(call.arg(2), "NO")) {
    if (!state->opt_out) {
      return call.reply.error(
          "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.");
    }
  } else {
    return answer::syntax_error(call);
  }
  session.make_next_an_exception();
  call.reply.ok();
}

int64_t redirect_of(const TrackingState* state) {
  return state == nullptr ? -1 : static_cast<int64_t>(state->redirect);
}

void getredir(Call& call, Session& session) {
  call.reply.integer(redirect_of(session.tracking()));
}

std::vector<std::string_view> flags_of(const TrackingState* state) {
  if (state == nullptr) return {"off"};
  std::vector<std::string_view> flags = {"on"};
  if (state->broadcast) flags.push_back("bcast");
  if (state->opt_in) flags.push_back("optin");
  if (state->opt_in && state->caching) flags.push_back("caching-yes");
  if (state->opt_out) flags.push_back("optout");
  if (state->opt_out && state->caching) flags.push_back("caching-no");
  if (state->no_loop) flags.push_back("noloop");
  if (state->broken_redirect) flags.push_back("broken_redirect");
  return flags;
}

void trackinginfo(Call& call, Session& session) {
  const TrackingState* state = session.tracking();
  call.reply.map(3);
  call.reply.bulk("flags");
  const auto flags = flags_of(state);
  call.reply.set(static_cast<int64_t>(flags.size()));
  for (const std::string_view flag : flags) call.reply.bulk(flag);
  call.reply.bulk("redirect");
  call.reply.integer(redirect_of(state));
  call.reply.bulk("prefixes");
  call.reply.array(state == nullptr ? 0 : static_cast<int64_t>(state->prefixes.size()));
  if (state == nullptr) return;
  for (const std::string& prefix : state->prefixes) call.reply.bulk(prefix);
}

constexpr Binding kTrackingBindings[] = {
    {"client|caching", &with_session<caching>},
    {"client|getredir", &with_session<getredir>},
    {"client|tracking", &with_session<tracking>},
    {"client|trackinginfo", &with_session<trackinginfo>},
};

}  // namespace

std::span<const Binding> tracking_bindings() {
  return kTrackingBindings;
}

}  // namespace sorrel
