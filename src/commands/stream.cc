#include "types/stream.h"

#include <limits>

#include "commands/collection_parts.h"
#include "commands/families.h"
#include "commands/stream_handlers.h"
#include "commands/stream_parts.h"
#include "dispatch/option_parser.h"

// XLEN, XRANGE, XDEL, XSETID: streams as a whole, and ranges of them.

namespace sorrel::commands {
namespace stream {
namespace {

constexpr Event kXsetid{EventClass::kStream, "xsetid", false};

void answer_xrange(Call& call, const std::optional<StreamId>& from,
                   const std::optional<StreamId>& to, StreamWalk::Direction direction) {
  if (!from || !to) return;
  std::optional<int64_t> count;
  OptionParser options(call.args, 4);
  while (options.more()) {
    if (options.word("COUNT", 1)) {
      count = std::max<int64_t>(options.integer(), 0);
    } else {
      options.fail_syntax();
    }
  }
  if (options.failed()) return call.reply.error(options.error());
  const Record* record = call.keys.read(call.key(1));
  if (record == nullptr) return call.reply.array(0);
  if (!check_type(call, record, Type::kStream)) return;
  if (count == 0) return call.reply.null_array();
  answer_range(call, stream_of(*record), *from, *to, static_cast<uint64_t>(count.value_or(0)),
               direction);
}

struct SetidOptions {
  StreamId last_id;
  std::optional<uint64_t> entries_added;
  StreamId max_deleted;
};

// nullopt: an error has been answered.
std::optional<SetidOptions> parse_xsetid(Call& call) {
  const auto last = parse_id(call, call.arg(2));
  if (!last) return std::nullopt;
  SetidOptions parsed{.last_id = *last};
  OptionParser options(call.args, 3);
  while (options.more()) {
    if (options.word("ENTRIESADDED", 1)) {
      const int64_t added = options.integer();
      if (added < 0) options.fail("ERR entries_added must be positive");
      parsed.entries_added = static_cast<uint64_t>(added);
    } else if (options.word("MAXDELETEDID", 1)) {
      const auto id = parse_id(call, options.text());
      if (!id) return std::nullopt;
      if (*last < *id) {
        options.fail(
            "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id");
      }
      parsed.max_deleted = *id;
    } else {
      options.fail_syntax();
    }
  }
  if (!options.failed()) return parsed;
  call.reply.error(options.error());
  return std::nullopt;
}

// Empty: the id may be set.
std::string_view setid_error(const Stream& stream, const SetidOptions& options) {
  if (options.last_id < stream.max_deleted_id()) {
    return "ERR The ID specified in XSETID is smaller than current max_deleted_entry_id";
  }
  if (stream.length() == 0) return {};
  if (options.last_id < stream.last_entry_id()) {
    return "ERR The ID specified in XSETID is smaller than the target stream top item";
  }
  if (options.entries_added && *options.entries_added < stream.length()) {
    return "ERR The entries_added specified in XSETID is smaller than the target stream length";
  }
  return {};
}

}  // namespace

void xlen(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (record == nullptr) return call.reply.integer(0);
  if (!check_type(call, record, Type::kStream)) return;
  call.reply.integer(static_cast<int64_t>(stream_of(*record).length()));
}

void xrange(Call& call) {
  const auto from = parse_range_start(call, call.arg(2));
  if (!from) return;
  answer_xrange(call, from, parse_range_end(call, call.arg(3)), StreamWalk::Direction::kUp);
}

void xrevrange(Call& call) {
  const auto from = parse_range_start(call, call.arg(3));
  if (!from) return;
  answer_xrange(call, from, parse_range_end(call, call.arg(2)), StreamWalk::Direction::kDown);
}

void xdel(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  if (!entry) return call.reply.integer(0);
  if (!check_type(call, entry, Type::kStream)) return;
  const auto ids = parse_ids(call, 2);
  if (!ids) return;
  Stream& stream = stream_of(entry.edit(Type::kStream));
  int64_t erased = 0;
  for (const StreamId& id : *ids) erased += stream.erase(id) ? 1 : 0;
  if (erased != 0) entry.changed(kXdelEvent);
  call.reply.integer(erased);
}

void xsetid(Call& call) {
  const auto options = parse_xsetid(call);
  if (!options) return;
  Entry entry = call.keys.open(call.key(1));
  if (!entry) return call.reply.error("ERR no such key");
  if (!check_type(call, entry, Type::kStream)) return;
  Stream& stream = stream_of(entry.edit(Type::kStream));
  const std::string_view error = setid_error(stream, *options);
  if (!error.empty()) return call.reply.error(error);
  stream.set_last_id(options->last_id);
  if (options->entries_added) stream.set_entries_added(*options->entries_added);
  if (!options->max_deleted.is_zero()) stream.set_max_deleted_id(options->max_deleted);
  entry.changed(kXsetid);
  call.reply.ok();
}

}  // namespace stream

std::span<const Binding> stream_bindings() {
  static constexpr Binding kBindings[] = {
      {"xack", &stream::xack},
      {"xackdel", &stream::xackdel},
      {"xadd", &stream::xadd},
      {"xautoclaim", &stream::xautoclaim},
      {"xclaim", &stream::xclaim},
      {"xdel", &stream::xdel},
      {"xdelex", &stream::xdelex},
      {"xgroup|create", &stream::xgroup_create},
      {"xgroup|createconsumer", &stream::xgroup_createconsumer},
      {"xgroup|delconsumer", &stream::xgroup_delconsumer},
      {"xgroup|destroy", &stream::xgroup_destroy},
      {"xgroup|help", &stream::xgroup_help},
      {"xgroup|setid", &stream::xgroup_setid},
      {"xinfo|consumers", &stream::xinfo_consumers},
      {"xinfo|groups", &stream::xinfo_groups},
      {"xinfo|help", &stream::xinfo_help},
      {"xinfo|stream", &stream::xinfo_stream},
      {"xlen", &stream::xlen},
      {"xpending", &stream::xpending},
      {"xrange", &stream::xrange},
      {"xread", &stream::xread},
      {"xreadgroup", &stream::xreadgroup},
      {"xrevrange", &stream::xrevrange},
      {"xsetid", &stream::xsetid},
      {"xtrim", &stream::xtrim},
  };
  return kBindings;
}

}  // namespace sorrel::commands
