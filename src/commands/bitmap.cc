#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/numbers.h"
#include "commands/bitmap_handlers.h"
#include "commands/families.h"
#include "commands/string_parts.h"
#include "types/bitmap.h"
#include "types/string.h"

// GETBIT, SETBIT, BITCOUNT, BITPOS and BITOP: strings as arrays of bits.

namespace sorrel::commands::bitmap {
namespace {

constexpr Event kSetEvent{EventClass::kString, "set"};
constexpr Event kDel{EventClass::kGeneric, "del"};

bool is_other_type(const Record* record) {
  return record != nullptr && record->type() != Type::kString;
}

bool bit_of(std::string_view bytes, uint64_t offset) {
  const uint64_t byte = offset / 8;
  return byte < bytes.size() &&
         (static_cast<unsigned char>(bytes[byte]) >> (7 - offset % 8) & 1) != 0;
}

// The range of a string that BITCOUNT or BITPOS is given.
struct Range {
  int64_t start = 0;
  int64_t end = -1;
  bool in_bits = false;
  bool has_end = false;
};

// The same as bit positions; nullopt: the range is empty.
struct BitSpan {
  uint64_t first;
  uint64_t last;
};
std::optional<BitSpan> resolve(const Range& range, size_t bytes) {
  const auto total = static_cast<int64_t>(range.in_bits ? bytes * 8 : bytes);
  const auto from_end = [total](int64_t index) {
    return index < 0 ? std::max<int64_t>(total + index, 0) : index;
  };
  const int64_t start = from_end(range.start);
  const int64_t end = std::min(from_end(range.end), total - 1);
  if (start > end) return std::nullopt;
  const auto first = static_cast<uint64_t>(start);
  const auto last = static_cast<uint64_t>(end);
  if (range.in_bits) return BitSpan{first, last};
  return BitSpan{first * 8, last * 8 + 7};
}

// Reads BYTE or BIT. False: neither, and the error has been answered.
bool parse_unit(Call& call, size_t at, Range& range) {
  range.in_bits = iequals(call.arg(at), "BIT");
  if (range.in_bits || iequals(call.arg(at), "BYTE")) return true;
  answer::syntax_error(call);
  return false;
}

bool parse_integer(Call& call, size_t at, int64_t& value) {
  const auto number = parse_int64(call.arg(at));
  if (!number) {
    answer::not_an_integer(call);
    return false;
  }
  value = *number;
  return true;
}

struct Operation {
  std::string_view name;
  bits::Combination how;
  bool needs_two = false;
};
constexpr Operation kOperations[] = {
    {"AND", bits::Combination::kAnd},           {"OR", bits::Combination::kOr},
    {"XOR", bits::Combination::kXor},           {"NOT", bits::Combination::kNot},
    {"DIFF", bits::Combination::kDiff, true},   {"DIFF1", bits::Combination::kDiff1, true},
    {"ANDOR", bits::Combination::kAndOr, true}, {"ONE", bits::Combination::kOne},
};

// Null: the request is wrong, and the error has been answered.
const Operation* parse_operation(Call& call) {
  const auto* found = std::find_if(
      std::begin(kOperations), std::end(kOperations),
      [&](const Operation& operation) { return iequals(call.arg(1), operation.name); });
  if (found == std::end(kOperations)) {
    answer::syntax_error(call);
    return nullptr;
  }
  if (found->how == bits::Combination::kNot && call.argc() != 4) {
    call.reply.error("ERR BITOP NOT must be called with a single source key.");
    return nullptr;
  }
  if (found->needs_two && call.argc() < 5) {
    call.reply.error(
        fmt::format("ERR BITOP {} must be called with at least two source keys.", found->name));
    return nullptr;
  }
  return found;
}

// The sources of BITOP. The records are looked up once, to count them and to expire keys; the bytes
// are fetched later, when the destination has been created.
class Sources {
 public:
  explicit Sources(Call& call) : call_(call), scratch_(call.argc() - 3) {
    keys_.reserve(scratch_.size());
    for (size_t i = 3; i < call.argc(); i++) keys_.push_back(call.key(i));
  }

  // The longest length; nullopt when a source is no string.
  std::optional<size_t> look_up() {
    size_t longest = 0;
    for (const Key& key : keys_) {
      const Record* record = call_.keys.read(key);
      if (is_other_type(record)) return std::nullopt;
      if (record != nullptr) longest = std::max(longest, string_length(*record));
    }
    return longest;
  }
  bool contain(std::string_view name) const {
    return std::any_of(keys_.begin(), keys_.end(),
                       [name](const Key& key) { return key.text == name; });
  }
  // Valid until the next change.
  std::vector<std::string_view> bytes() {
    std::vector<std::string_view> all;
    all.reserve(keys_.size());
    for (size_t i = 0; i < keys_.size(); i++) {
      const Record* record = call_.keys.peek(keys_[i]);
      all.push_back(record == nullptr ? std::string_view{} : string_bytes(*record, scratch_[i]));
    }
    return all;
  }

 private:
  Call& call_;
  std::vector<Key> keys_;
  std::vector<IntegerText> scratch_;
};

// A string of `size` bytes for the result, replacing any value of the destination. A destination
// that is a source as well keeps its bytes, is padded with zeros, and is modified in place. Another
// string of the same length is reused, so that repeating a BITOP allocates nothing.
char* make_result(Entry& entry, size_t size, bool is_source) {
  const Record* old = entry.record();
  const bool usable =
      old != nullptr && (is_source || (!is_other_type(old) && string_length(*old) == size));
  if (usable && old->has_expiry()) entry.set_expiry(kNoExpiry, kSetEvent);
  if (old != nullptr && !usable) entry.erase(kSetEvent);
  return entry.grow_string(size, kSetEvent);
}

}  // namespace

std::optional<uint64_t> parse_offset(const Call& call, std::string_view text,
                                     unsigned field_width) {
  const bool in_fields = field_width != 0 && !text.empty() && text[0] == '#';
  auto offset = parse_int64(in_fields ? text.substr(1) : text);
  if (offset && in_fields) offset = checked_mul(*offset, field_width);
  if (!offset || *offset < 0 || static_cast<uint64_t>(*offset) / 8 >= max_string_bytes(call)) {
    return std::nullopt;
  }
  return static_cast<uint64_t>(*offset);
}

void setbit(Call& call) {
  const auto offset = parse_offset(call, call.arg(2));
  if (!offset) return call.reply.error(kBadOffset);
  const auto value = parse_int64(call.arg(3));
  if (!value || (*value != 0 && *value != 1)) {
    return call.reply.error("ERR bit is not an integer or out of range");
  }

  Entry entry = call.keys.open(call.key(1));
  if (is_other_type(entry.record())) return answer::wrong_type(call);
  IntegerText scratch;
  const std::string_view bytes =
      entry ? string_bytes(*entry.record(), scratch) : std::string_view{};
  const bool old = bit_of(bytes, *offset);
  const uint64_t byte = *offset / 8;
  if (byte >= bytes.size() || old != (*value == 1)) {
    char* const data = entry.grow_string(byte + 1, kSetBit);
    bits::write_field(data, *offset, 1, static_cast<uint64_t>(*value));
  } else {
    entry.mark_string_modified();
  }
  call.reply.integer(old ? 1 : 0);
}

void getbit(Call& call) {
  const auto offset = parse_offset(call, call.arg(2));
  if (!offset) return call.reply.error(kBadOffset);

  const Record* record = call.keys.read(call.key(1));
  if (record == nullptr) return call.reply.integer(0);
  if (is_other_type(record)) return answer::wrong_type(call);
  IntegerText scratch;
  call.reply.integer(bit_of(string_bytes(*record, scratch), *offset) ? 1 : 0);
}

void bitcount(Call& call) {
  Range range;
  if (call.argc() == 3 || call.argc() > 5) return answer::syntax_error(call);
  if (call.argc() > 2) {
    if (!parse_integer(call, 2, range.start) || !parse_integer(call, 3, range.end)) return;
    if (call.argc() == 5 && !parse_unit(call, 4, range)) return;
  }

  const Record* record = call.keys.read(call.key(1));
  if (record == nullptr) return call.reply.integer(0);
  if (is_other_type(record)) return answer::wrong_type(call);
  // Both before the string's start and in the wrong order: clamping would yield one byte.
  if (range.start < 0 && range.end < 0 && range.start > range.end) return call.reply.integer(0);
  IntegerText scratch;
  const std::string_view bytes = string_bytes(*record, scratch);
  const auto span = resolve(range, bytes.size());
  call.reply.integer(span ? static_cast<int64_t>(bits::count(bytes, span->first, span->last)) : 0);
}

void bitpos(Call& call) {
  int64_t bit = 0;
  Range range;
  if (!parse_integer(call, 2, bit)) return;
  if (bit != 0 && bit != 1) return call.reply.error("ERR The bit argument must be 1 or 0.");
  if (call.argc() > 6) return answer::syntax_error(call);
  if (call.argc() > 3 && !parse_integer(call, 3, range.start)) return;
  if (call.argc() == 6 && !parse_unit(call, 5, range)) return;
  range.has_end = call.argc() > 4;
  if (range.has_end && !parse_integer(call, 4, range.end)) return;

  const Record* record = call.keys.read(call.key(1));
  // A missing key reads as endless zeros.
  if (record == nullptr) return call.reply.integer(bit == 1 ? -1 : 0);
  if (is_other_type(record)) return answer::wrong_type(call);
  IntegerText scratch;
  const std::string_view bytes = string_bytes(*record, scratch);
  const auto span = resolve(range, bytes.size());
  if (!span) return call.reply.integer(-1);
  const uint64_t found = bits::find(bytes, bit == 1, span->first, span->last);
  if (found != bits::kNowhere) return call.reply.integer(static_cast<int64_t>(found));
  // Without an end, the zeros after the string count as well.
  const bool behind = bit == 0 && !range.has_end;
  call.reply.integer(behind ? static_cast<int64_t>(bytes.size() * 8) : -1);
}

void bitop(Call& call) {
  const Operation* operation = parse_operation(call);
  if (operation == nullptr) return;

  Sources sources(call);
  const auto size = sources.look_up();
  if (!size) return answer::wrong_type(call);
  const Key destination = call.key(2);
  Entry entry = call.keys.open(destination);
  if (*size == 0) {
    if (entry) entry.erase(kDel);
  } else {
    char* const to = make_result(entry, *size, sources.contain(destination.text));
    bits::combine(operation->how, sources.bytes(), to, *size);
  }
  call.reply.integer(static_cast<int64_t>(*size));
}

}  // namespace sorrel::commands::bitmap

namespace sorrel::commands {

std::span<const Binding> bitmap_bindings() {
  static constexpr Binding kBindings[] = {
      {"bitcount", &bitmap::bitcount},       {"bitfield", &bitmap::bitfield},
      {"bitfield_ro", &bitmap::bitfield_ro}, {"bitop", &bitmap::bitop},
      {"bitpos", &bitmap::bitpos},           {"getbit", &bitmap::getbit},
      {"setbit", &bitmap::setbit},
  };
  return kBindings;
}

}  // namespace sorrel::commands
