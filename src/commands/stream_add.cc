#include <algorithm>
#include <string>

#include "base/numbers.h"
#include "commands/collection_parts.h"
#include "commands/stream_handlers.h"
#include "commands/stream_parts.h"

// XADD and XTRIM: appending entries, and trimming the oldest.

namespace sorrel::commands::stream {
namespace {

constexpr Event kXadd{EventClass::kStream, "xadd"};
constexpr Event kXtrim{EventClass::kStream, "xtrim"};

// The form in which the id of a new entry is given.
enum class IdForm : uint8_t { kWhole, kAutomaticSeq, kAutomatic };

struct AddOptions {
  bool may_make = true;
  StreamTrim trim;
  bool refs_given = false;
  bool limit_given = false;
  int64_t limit = 0;
  IdForm form = IdForm::kAutomatic;
  StreamId id;
  size_t pairs_at = 0;  // 0: no id was found
};

// Parses the options that XADD and XTRIM share. Each method answers its errors and then returns
// false.
class AddParser {
 public:
  AddParser(Call& call, bool is_add) : call_(call), is_add_(is_add) {}

  bool parse(AddOptions& parsed) {
    while (at_ < call_.argc() && parsed.pairs_at == 0) {
      if (!take_one(parsed)) return false;
    }
    return check_limit(parsed);
  }

 private:
  bool fail(std::string_view error) {
    call_.reply.error(error);
    return false;
  }

  bool take_one(AddOptions& parsed) {
    const std::string_view word = call_.arg(at_);
    const bool has_argument = at_ + 1 < call_.argc();
    if (is_add_ && word == "*") {
      parsed.pairs_at = at_ + 1;
      return true;
    }
    if (iequals(word, "MAXLEN") && has_argument) return take_max_length(parsed.trim);
    if (iequals(word, "MINID") && has_argument) return take_min_id(parsed.trim);
    if (iequals(word, "LIMIT") && has_argument) return take_limit(parsed);
    const auto refs = refs_named(word);
    if (refs && !parsed.refs_given) {
      parsed.refs_given = true;
      parsed.trim.refs = *refs;
      at_++;
      return true;
    }
    if (!is_add_) return fail("ERR syntax error");
    if (iequals(word, "NOMKSTREAM")) {
      parsed.may_make = false;
      at_++;
      return true;
    }
    return take_id(parsed);
  }

  // The word, and what may be between it and its argument ("=" or "~").
  bool take_strategy(StreamTrim& trim, StreamTrim::Kind kind) {
    if (trim.kind != StreamTrim::Kind::kNone) {
      return fail("ERR syntax error, MAXLEN and MINID options at the same time are not compatible");
    }
    trim.kind = kind;
    at_++;
    const bool two_follow = at_ + 1 < call_.argc();
    trim.approximate = two_follow && call_.arg(at_) == "~";
    if (trim.approximate || (two_follow && call_.arg(at_) == "=")) at_++;
    return true;
  }

  bool take_max_length(StreamTrim& trim) {
    if (!take_strategy(trim, StreamTrim::Kind::kMaxLength)) return false;
    const auto length = parse_integer(call_, call_.arg(at_++));
    if (!length) return false;
    if (*length < 0) return fail("ERR The MAXLEN argument must be >= 0.");
    trim.max_length = static_cast<uint64_t>(*length);
    return true;
  }

  bool take_min_id(StreamTrim& trim) {
    if (!take_strategy(trim, StreamTrim::Kind::kMinId)) return false;
    const auto id = parse_id(call_, call_.arg(at_++));
    if (id) trim.min_id = *id;
    return id.has_value();
  }

  bool take_limit(AddOptions& parsed) {
    const auto limit = parse_integer(call_, call_.arg(at_ + 1));
    if (!limit) return false;
    if (*limit < 0) return fail("ERR The LIMIT argument must be >= 0.");
    parsed.limit_given = true;
    parsed.limit = *limit;
    at_ += 2;
    return true;
  }

  bool take_id(AddOptions& parsed) {
    std::string_view text = call_.arg(at_);
    parsed.form = IdForm::kWhole;
    if (text.ends_with("-*")) {
      parsed.form = IdForm::kAutomaticSeq;
      text.remove_suffix(2);
      // Only the sequence may be left to the server.
      if (text.find('-') != std::string_view::npos) text = {};
    }
    const auto id = parse_id(call_, text);
    if (!id) return false;
    parsed.id = *id;
    parsed.pairs_at = at_ + 1;
    return true;
  }

  bool check_limit(AddOptions& parsed) {
    StreamTrim& trim = parsed.trim;
    const bool trims = trim.kind != StreamTrim::Kind::kNone;
    if (parsed.limit != 0 && !trims) {
      return fail("ERR syntax error, LIMIT cannot be used without specifying a trimming strategy");
    }
    if (!is_add_ && !trims) {
      return fail("ERR syntax error, XTRIM must be called with a trimming strategy");
    }
    // A replayed effect says exactly what was done.
    if (call_.caller.repeats_history()) return true;
    if (parsed.limit_given && !trim.approximate) {
      return fail("ERR syntax error, LIMIT cannot be used without the special ~ option");
    }
    if (trim.approximate) {
      trim.limit = parsed.limit_given ? static_cast<uint64_t>(parsed.limit) : default_limit();
    }
    return true;
  }

  // The default LIMIT of approximate trimming, a hundred nodes, bounds one call.
  uint64_t default_limit() const {
    constexpr int64_t kNodes = 100;
    constexpr int64_t kWithoutNodeSize = 10'000;
    constexpr int64_t kMost = 1'000'000;
    const int64_t entries = call_.keys.keyspace().limits().stream_node_max_entries;
    if (entries <= 0) return kWithoutNodeSize;
    return static_cast<uint64_t>(std::min(entries, kMost / kNodes) * kNodes);
  }

  Call& call_;
  bool is_add_;
  size_t at_ = 2;
};

// The id for the new entry; nullopt when it would not be greater than the last one.
std::optional<StreamId> choose_id(const AddOptions& options, const StreamId& last, int64_t now_ms) {
  switch (options.form) {
    case IdForm::kWhole:
      if (options.id <= last) return std::nullopt;
      return options.id;
    case IdForm::kAutomaticSeq:
      if (options.id.ms > last.ms) return StreamId{options.id.ms, 0};
      if (options.id.ms < last.ms || last.seq == kMaxStreamPart) return std::nullopt;
      return StreamId{last.ms, last.seq + 1};
    case IdForm::kAutomatic:
      break;
  }
  // The clock may stop or go back; ids only increase.
  const StreamId now{static_cast<uint64_t>(now_ms), 0};
  return now.ms > last.ms ? now : last.after();
}

// The exact outcome of trimming, for the effect. KEEPREF is left out, since it is the default and
// older servers do not know it.
void push_trim(std::vector<std::string>& command, const StreamTrim& rule, const Stream& stream) {
  if (rule.kind == StreamTrim::Kind::kNone) return;
  if (rule.refs == StreamRefs::kDelete) command.emplace_back("DELREF");
  if (rule.refs == StreamRefs::kAcked) command.emplace_back("ACKED");
  if (rule.kind == StreamTrim::Kind::kMaxLength) {
    const uint64_t length = rule.approximate ? stream.length() : rule.max_length;
    command.insert(command.end(), {"MAXLEN", "=", to_text(static_cast<int64_t>(length))});
    return;
  }
  const StreamId first = stream.length() == 0 ? kMaxStreamId : stream.first_id();
  command.insert(command.end(), {"MINID", "=", (rule.approximate ? first : rule.min_id).text()});
}

void propagate_xadd(Call& call, const AddOptions& options, const StreamId& id,
                    const Stream& stream) {
  if (options.form == IdForm::kWhole && !options.trim.approximate) return;
  if (!call.wants_effect()) return;
  std::vector<std::string> command{"XADD", std::string(call.arg(1))};
  if (!options.may_make) command.emplace_back("NOMKSTREAM");
  push_trim(command, options.trim, stream);
  command.push_back(id.text());
  for (size_t i = options.pairs_at; i < call.argc(); i++) command.emplace_back(call.arg(i));
  call.rewrite.as(std::move(command));
}

// Empty: the entry can be stored under `id`, which is then set.
std::string_view check_new_entry(Call& call, const AddOptions& options, const StreamId& last,
                                 StreamId& id) {
  if (last == kMaxStreamId) {
    return "ERR The stream has exhausted the last possible ID, unable to add more items";
  }
  const auto chosen = choose_id(options, last, call.now_ms());
  if (!chosen) {
    return "ERR The ID specified in XADD is equal or smaller than the target stream top item";
  }
  if (!stream_node::storable(call.args.subspan(options.pairs_at))) {
    return "ERR Elements are too large to be stored";
  }
  id = *chosen;
  return {};
}

}  // namespace

void xadd(Call& call) {
  AddOptions options;
  if (!AddParser(call, true).parse(options)) return;
  const size_t words = options.pairs_at == 0 ? 0 : call.argc() - options.pairs_at;
  if (words < 2 || words % 2 == 1) return answer::wrong_arity(call);
  if (options.form == IdForm::kWhole && options.id.is_zero()) {
    return call.reply.error("ERR The ID specified in XADD must be greater than 0-0");
  }
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kStream)) return;
  if (!entry && !options.may_make) return call.reply.null();
  const StreamId last = entry ? stream_of(*entry.record()).last_id() : StreamId{};
  StreamId id;
  const std::string_view error = check_new_entry(call, options, last, id);
  if (!error.empty()) return call.reply.error(error);

  const KeyspaceLimits& limits = call.keys.keyspace().limits();
  Stream& stream = stream_of(entry.edit(Type::kStream));
  stream.append(id, call.args.subspan(options.pairs_at),
                {limits.stream_node_max_bytes, limits.stream_node_max_entries});
  entry.changed(kXadd);
  if (stream.trim(options.trim) != 0) entry.also(kXtrim);
  propagate_xadd(call, options, id, stream);
  answer_id(call, id);
}

void xtrim(Call& call) {
  AddOptions options;
  if (!AddParser(call, false).parse(options)) return;
  Entry entry = call.keys.open(call.key(1));
  if (!entry) return call.reply.integer(0);
  if (!check_type(call, entry, Type::kStream)) return;
  Stream& stream = stream_of(entry.edit(Type::kStream));
  const uint64_t removed = stream.trim(options.trim);
  if (removed != 0) {
    entry.changed(kXtrim);
    if (options.trim.approximate && call.wants_effect()) {
      std::vector<std::string> command{"XTRIM", std::string(call.arg(1))};
      push_trim(command, options.trim, stream);
      call.rewrite.as(std::move(command));
    }
  }
  call.reply.integer(static_cast<int64_t>(removed));
}

}  // namespace sorrel::commands::stream
