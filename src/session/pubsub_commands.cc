#include "session/pubsub_commands.h"

#include <optional>
#include <string>

#include "session/session_call.h"

namespace sorrel {
namespace {

// How the commands of one kind of topic differ.
struct Words {
  TopicKind kind;
  std::string_view subscribe;
  std::string_view unsubscribe;
};
constexpr Words kChannels{TopicKind::kChannel, "subscribe", "unsubscribe"};
constexpr Words kPatterns{TopicKind::kPattern, "psubscribe", "punsubscribe"};
constexpr Words kShardChannels{TopicKind::kShardChannel, "ssubscribe", "sunsubscribe"};

// What a confirmation counts: shard channels on their own, the others together.
int64_t subscription_count(const Session& session, TopicKind kind) {
  if (kind == TopicKind::kShardChannel) return static_cast<int64_t>(session.subscriptions(kind));
  return static_cast<int64_t>(session.subscriptions(TopicKind::kChannel) +
                              session.subscriptions(TopicKind::kPattern));
}

void write_confirmation(resp::ReplySink& to, std::string_view word,
                        std::optional<std::string_view> name, int64_t count) {
  to.push(3);
  to.bulk(word);
  name ? to.bulk(*name) : to.null();
  to.integer(count);
}

// A confirmation is a message, and comes even where answers are turned off.
void confirm(Call& call, Session& session, TopicKind kind, std::string_view word,
             std::optional<std::string_view> name) {
  const int64_t count = subscription_count(session, kind);
  if (!session.silent()) return write_confirmation(call.reply, word, name, count);
  resp::OutputBuffer out;
  resp::ReplyWriter writer(out, session.caller().protocol);
  write_confirmation(writer, word, name, count);
  session.send(out.view());
}

// What has been published before the command goes out before its confirmations. Inside a
// transaction it waits for the end of the whole answer.
void hear_what_was_said(Call& call, Session& session) {
  SessionHost& host = session.host();
  if (!host.has_messages() || !host.runs(call.request)) return;
  host.let_messages_first(true);
  host.world().pubsub.deliver_waiting(host);
  host.let_messages_first(false);
}

template <const Words& words>
void subscribe(Call& call, Session& session) {
  hear_what_was_said(call, session);
  for (size_t i = 1; i < call.argc(); i++) {
    call.context<SessionWorld>().pubsub.subscribe(session, words.kind, call.arg(i));
    confirm(call, session, words.kind, words.subscribe, call.arg(i));
  }
}

template <const Words& words>
void unsubscribe(Call& call, Session& session) {
  hear_what_was_said(call, session);
  PubSub& pubsub = call.context<SessionWorld>().pubsub;
  const auto leave = [&](std::string_view name) {
    pubsub.unsubscribe(session, words.kind, name);
    confirm(call, session, words.kind, words.unsubscribe, name);
  };
  for (size_t i = 1; i < call.argc(); i++) leave(call.arg(i));
  if (call.argc() > 1) return;
  if (session.subscriptions(words.kind) == 0) {
    return confirm(call, session, words.kind, words.unsubscribe, std::nullopt);
  }
  for (const std::string& name : session.listening()->names(words.kind)) leave(name);
}

// Scripts and transactions publish too. Replicas repeat it for those who listen there; the log does
// not, as nobody listens to what is long past.
void publish_to(Call& call, bool to_shard) {
  SessionWorld& world = call.context<SessionWorld>();
  SessionHost& host = *world.hosts[call.executor.worker()];
  const int64_t receivers = world.pubsub.publish(host, {to_shard, call.arg(1), call.arg(2)});
  if (call.wants_effect()) {
    call.keys.effects().append(call.keys.db(), call.args, Audience::kReplicas);
  }
  call.reply.integer(receivers);
}

void publish(Call& call) {
  publish_to(call, false);
}

void spublish(Call& call) {
  publish_to(call, true);
}

template <TopicKind kind>
void list_channels(Call& call) {
  if (call.argc() > 3) return answer::subcommand_syntax(call);
  const std::string_view pattern = call.argc() == 3 ? call.arg(2) : "*";
  const auto names = call.context<SessionWorld>().pubsub.topic_names(kind, pattern);
  call.reply.array(static_cast<int64_t>(names.size()));
  for (const std::string& name : names) call.reply.bulk(name);
}

template <TopicKind kind>
void count_subscribers(Call& call) {
  const PubSub& pubsub = call.context<SessionWorld>().pubsub;
  call.reply.array(static_cast<int64_t>(call.argc() - 2) * 2);
  for (size_t i = 2; i < call.argc(); i++) {
    call.reply.bulk(call.arg(i));
    call.reply.integer(static_cast<int64_t>(pubsub.count_listeners(kind, call.arg(i))));
  }
}

void count_patterns(Call& call) {
  const size_t count = call.context<SessionWorld>().pubsub.count_topics(TopicKind::kPattern);
  call.reply.integer(static_cast<int64_t>(count));
}

void help(Call& call) {
  answer::help(call, {
                         "CHANNELS [<pattern>]",
                         "    List the channels that somebody listens to, or those that match.",
                         "NUMPAT",
                         "    Count the different patterns that somebody listens to.",
                         "NUMSUB [<channel> ...]",
                         "    Count who listens to each channel by its name.",
                         "SHARDCHANNELS [<pattern>]",
                         "    List the shard channels that somebody listens to.",
                         "SHARDNUMSUB [<shardchannel> ...]",
                         "    Count who listens to each shard channel.",
                     });
}

constexpr Binding kPubsubBindings[] = {
    {"subscribe", &with_session<subscribe<kChannels>>},
    {"unsubscribe", &with_session<unsubscribe<kChannels>>},
    {"psubscribe", &with_session<subscribe<kPatterns>>},
    {"punsubscribe", &with_session<unsubscribe<kPatterns>>},
    {"ssubscribe", &with_session<subscribe<kShardChannels>>},
    {"sunsubscribe", &with_session<unsubscribe<kShardChannels>>},
    {"publish", &publish},
    {"spublish", &spublish},
    {"pubsub|channels", &list_channels<TopicKind::kChannel>},
    {"pubsub|help", &help},
    {"pubsub|numpat", &count_patterns},
    {"pubsub|numsub", &count_subscribers<TopicKind::kChannel>},
    {"pubsub|shardchannels", &list_channels<TopicKind::kShardChannel>},
    {"pubsub|shardnumsub", &count_subscribers<TopicKind::kShardChannel>},
};

}  // namespace

std::span<const Binding> pubsub_bindings() {
  return kPubsubBindings;
}

}  // namespace sorrel
