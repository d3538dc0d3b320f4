#include <fmt/format.h>

#include "base/numbers.h"
#include "commands/collection_parts.h"
#include "commands/stream_handlers.h"
#include "commands/stream_parts.h"
#include "dispatch/option_parser.h"

// XGROUP and XACK: consumer groups, their consumers, and acknowledgement.

namespace sorrel::commands::stream {
namespace {

// Changes of groups and consumers do not modify the stream; creating a stream for a group does.
constexpr Event kCreate{EventClass::kStream, "xgroup-create", false};
constexpr Event kCreateWithStream{EventClass::kStream, "xgroup-create"};
constexpr Event kSetid{EventClass::kStream, "xgroup-setid", false};
constexpr Event kDestroy{EventClass::kStream, "xgroup-destroy", false};
constexpr Event kDelConsumer{EventClass::kStream, "xgroup-delconsumer", false};

struct GroupOptions {
  bool make_stream = false;
  int64_t entries_read = StreamGroup::kUnknown;
};

// False: an error has been answered.
bool parse_group_options(Call& call, bool may_make, GroupOptions& parsed) {
  OptionParser options(call.args, 5);
  while (options.more()) {
    if (may_make && options.word("MKSTREAM")) {
      parsed.make_stream = true;
    } else if (options.word("ENTRIESREAD", 1)) {
      parsed.entries_read = options.integer();
      if (parsed.entries_read < StreamGroup::kUnknown) {
        options.fail("ERR value for ENTRIESREAD must be positive or -1");
      }
    } else {
      answer::subcommand_syntax(call);
      return false;
    }
  }
  if (options.failed()) call.reply.error(options.error());
  return !options.failed();
}

// False: an error has been answered.
bool check_stream(Call& call, const Entry& entry) {
  if (!check_type(call, entry, Type::kStream)) return false;
  if (entry) return true;
  call.reply.error(
      "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to "
      "use the MKSTREAM option to create an empty stream automatically.");
  return false;
}

// Null: an error has been answered.
StreamGroup* find_group(Call& call, Entry& entry) {
  if (!check_stream(call, entry)) return nullptr;
  StreamGroup* group = stream_of(entry.edit(Type::kStream)).group(call.arg(3));
  if (group == nullptr) {
    call.reply.error(fmt::format("NOGROUP No such consumer group '{}' for key name '{}'",
                                 call.arg(3), call.arg(2)));
  }
  return group;
}

// An id, or "$" for the stream's last one. nullopt: an error has been answered.
std::optional<StreamId> parse_position(Call& call, const StreamId& last, bool ends_allowed) {
  const std::string_view text = call.arg(4);
  if (text == "$") return last;
  if (ends_allowed && text == "-") return kMinStreamId;
  if (ends_allowed && text == "+") return kMaxStreamId;
  return parse_id(call, text);
}

// "$" would be another id on a replica, so the effect has the actual one.
void propagate_position(Call& call, std::string_view word, const StreamId& id) {
  if (call.arg(4) != "$" || !call.wants_effect()) return;
  std::vector<std::string> command(call.args.begin(), call.args.end());
  command[0] = "XGROUP";
  command[1] = word;
  command[4] = id.text();
  call.rewrite.as(std::move(command));
}

}  // namespace

void xgroup_create(Call& call) {
  GroupOptions options;
  if (!parse_group_options(call, true, options)) return;
  Entry entry = call.keys.open(call.key(2));
  if (options.make_stream ? !check_type(call, entry, Type::kStream) : !check_stream(call, entry)) {
    return;
  }
  if (call.argc() > 8) return answer::subcommand_syntax(call);
  const bool existed = static_cast<bool>(entry);
  const StreamId last = existed ? stream_of(*entry.record()).last_id() : StreamId{};
  const auto id = parse_position(call, last, false);
  if (!id) return;
  Stream& stream = stream_of(entry.edit(Type::kStream));
  if (stream.add_group(call.arg(3), *id, options.entries_read) == nullptr) {
    return call.reply.error("BUSYGROUP Consumer Group name already exists");
  }
  entry.changed(existed ? kCreate : kCreateWithStream);
  propagate_position(call, "CREATE", *id);
  call.reply.ok();
}

void xgroup_setid(Call& call) {
  GroupOptions options;
  if (!parse_group_options(call, false, options)) return;
  Entry entry = call.keys.open(call.key(2));
  StreamGroup* group = find_group(call, entry);
  if (group == nullptr) return;
  if (call.argc() > 7) return answer::subcommand_syntax(call);
  const auto id = parse_position(call, stream_of(entry.edit(Type::kStream)).last_id(), true);
  if (!id) return;
  group->last_id = *id;
  group->entries_read = options.entries_read;
  entry.changed(kSetid);
  propagate_position(call, "SETID", *id);
  call.reply.ok();
}

void xgroup_destroy(Call& call) {
  Entry entry = call.keys.open(call.key(2));
  if (!check_stream(call, entry)) return;
  const bool existed = stream_of(entry.edit(Type::kStream)).erase_group(call.arg(3));
  if (existed) entry.changed(kDestroy);
  call.reply.integer(existed ? 1 : 0);
}

void xgroup_createconsumer(Call& call) {
  Entry entry = call.keys.open(call.key(2));
  StreamGroup* group = find_group(call, entry);
  if (group == nullptr) return;
  if (Stream::consumer(*group, call.arg(4)) != nullptr) return call.reply.integer(0);
  stream_of(entry.edit(Type::kStream)).add_consumer(*group, call.arg(4), call.now_ms());
  entry.changed(kCreateConsumerEvent);
  call.reply.integer(1);
}

void xgroup_delconsumer(Call& call) {
  Entry entry = call.keys.open(call.key(2));
  StreamGroup* group = find_group(call, entry);
  if (group == nullptr) return;
  if (Stream::consumer(*group, call.arg(4)) == nullptr) return call.reply.integer(0);
  const size_t pending = stream_of(entry.edit(Type::kStream)).erase_consumer(*group, call.arg(4));
  entry.changed(kDelConsumer);
  call.reply.integer(static_cast<int64_t>(pending));
}

void xgroup_help(Call& call) {
  answer::help(call, {
                         "CREATE <key> <groupname> <id|$> [option]",
                         "    Add a group that reads behind <id>. Options are:",
                         "    * MKSTREAM",
                         "      Make an empty stream when there is none.",
                         "    * ENTRIESREAD entries_read",
                         "      Set how many entries count as read by the group.",
                         "CREATECONSUMER <key> <groupname> <consumer>",
                         "    Add a consumer to the group.",
                         "DELCONSUMER <key> <groupname> <consumer>",
                         "    Remove a consumer with what is pending there.",
                         "DESTROY <key> <groupname>",
                         "    Remove the group.",
                         "SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]",
                         "    Let the group go on reading behind <id>.",
                     });
}

void xack(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  if (!entry) return call.reply.integer(0);
  if (!check_type(call, entry, Type::kStream)) return;
  Stream& stream = stream_of(entry.edit(Type::kStream));
  StreamGroup* group = stream.group(call.arg(2));
  if (group == nullptr) return call.reply.integer(0);
  const auto ids = parse_ids(call, 3);
  if (!ids) return;
  uint64_t done = 0;
  for (const StreamId& id : *ids) done += stream.acknowledge(*group, id) ? 1 : 0;
  // There is no event: the stream is unchanged.
  call.keys.count_changes(done);
  call.reply.integer(static_cast<int64_t>(done));
}

}  // namespace sorrel::commands::stream
