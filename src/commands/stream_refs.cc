#include "base/numbers.h"
#include "commands/collection_parts.h"
#include "commands/stream_handlers.h"
#include "commands/stream_parts.h"

// XDELEX and XACKDEL: deletion of entries with a choice for the references of consumer groups.

namespace sorrel::commands::stream {
namespace {

// The reply for each id.
constexpr int64_t kNotThere = -1;
constexpr int64_t kDeleted = 1;
constexpr int64_t kStillReferenced = 2;

struct RefOptions {
  StreamRefs refs = StreamRefs::kKeep;
  bool refs_given = false;
  size_t ids_at = 0;  // 0: none were given
  size_t ids = 0;
};

// Parses the arguments after `from`. False: an error has been answered.
bool parse_ref_options(Call& call, size_t from, RefOptions& parsed) {
  const auto fail = [&](std::string_view error) {
    call.reply.error(error);
    return false;
  };
  for (size_t at = from; at < call.argc();) {
    const auto refs = refs_named(call.arg(at));
    const size_t follow = call.argc() - at - 1;
    if (refs && !parsed.refs_given) {
      parsed.refs = *refs;
      parsed.refs_given = true;
      at++;
    } else if (iequals(call.arg(at), "IDS") && follow >= 1) {
      const int64_t count = parse_int64(call.arg(at + 1)).value_or(0);
      if (count < 1) return fail("ERR Number of IDs must be a positive integer");
      if (static_cast<uint64_t>(count) > follow - 1) {
        return fail("ERR The `numids` parameter must match the number of arguments");
      }
      parsed.ids_at = at + 2;
      parsed.ids = static_cast<size_t>(count);
      at = parsed.ids_at + parsed.ids;
    } else {
      return fail("ERR syntax error");
    }
  }
  if (parsed.ids_at == 0) return fail("ERR IDS option is required");
  return true;
}

void answer_not_there(Call& call, size_t count) {
  call.reply.array(static_cast<int64_t>(count));
  for (size_t i = 0; i < count; i++) call.reply.integer(kNotThere);
}

// One stream while entries of it are deleted by one policy.
class Deleter {
 public:
  Deleter(Call& call, Entry& entry, const RefOptions& options)
      : call_(call),
        entry_(entry),
        stream_(stream_of(entry.edit(Type::kStream))),
        options_(options) {}

  Stream& stream() { return stream_; }

  int64_t erase(const StreamId& id) {
    if (options_.refs == StreamRefs::kAcked && stream_.is_referenced(id)) return kStillReferenced;
    // References are removed even when the entry was deleted before.
    if (options_.refs == StreamRefs::kDelete) quiet_ += stream_.acknowledge_everywhere(id);
    if (!stream_.erase(id)) return kNotThere;
    erased_ = true;
    return kDeleted;
  }

  bool acknowledge(StreamGroup& group, const StreamId& id) {
    if (!stream_.acknowledge(group, id)) return false;
    quiet_++;
    return true;
  }

  void finish() {
    // There is no event for references.
    call_.keys.count_changes(quiet_);
    if (erased_) entry_.changed(kXdelEvent);
  }

 private:
  Call& call_;
  Entry& entry_;
  Stream& stream_;
  const RefOptions& options_;
  uint64_t quiet_ = 0;
  bool erased_ = false;
};

}  // namespace

void xdelex(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kStream)) return;
  RefOptions options;
  if (!parse_ref_options(call, 2, options)) return;
  if (!entry) return answer_not_there(call, options.ids);
  const auto ids = parse_ids(call, options.ids_at, options.ids);
  if (!ids) return;
  Deleter deleter(call, entry, options);
  call.reply.array(static_cast<int64_t>(ids->size()));
  for (const StreamId& id : *ids) call.reply.integer(deleter.erase(id));
  deleter.finish();
}

void xackdel(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kStream)) return;
  RefOptions options;
  if (!parse_ref_options(call, 3, options)) return;
  if (!entry) return answer_not_there(call, options.ids);
  Deleter deleter(call, entry, options);
  StreamGroup* group = deleter.stream().group(call.arg(2));
  if (group == nullptr) return answer_not_there(call, options.ids);
  const auto ids = parse_ids(call, options.ids_at, options.ids);
  if (!ids) return;
  call.reply.array(static_cast<int64_t>(ids->size()));
  for (const StreamId& id : *ids) {
    if (!deleter.acknowledge(*group, id)) {
      call.reply.integer(kNotThere);
    } else {
      // A reference to an entry that was deleted before counts as deleted with it.
      const int64_t outcome = deleter.erase(id);
      call.reply.integer(outcome == kNotThere ? kDeleted : outcome);
    }
  }
  deleter.finish();
}

}  // namespace sorrel::commands::stream
