#include <algorithm>
#include <vector>

#include "base/bytes.h"
#include "commands/bitmap_handlers.h"
#include "dispatch/option_parser.h"
#include "types/bitmap.h"
#include "types/string.h"

// BITFIELD and BITFIELD_RO: integers of any width inside a string.

namespace sorrel::commands::bitmap {
namespace {

struct FieldOperation {
  enum class Kind : uint8_t { kGet, kSet, kIncrby } kind;
  BitField field;
  uint64_t offset;
  int64_t argument;
  BitOverflow overflow;

  bool writes() const { return kind != Kind::kGet; }
  // The bytes of the string that it needs.
  uint64_t end_byte() const { return (offset + field.width + 7) / 8; }
};
using Kind = FieldOperation::Kind;

BitOverflow parse_overflow(OptionParser& options) {
  if (options.word("WRAP")) return BitOverflow::kWrap;
  if (options.word("SAT")) return BitOverflow::kSaturate;
  if (options.word("FAIL")) return BitOverflow::kFail;
  options.fail("ERR Invalid OVERFLOW type specified");
  return BitOverflow::kWrap;
}

void parse_operation(const Call& call, OptionParser& options, Kind kind, BitOverflow overflow,
                     std::vector<FieldOperation>& operations) {
  const auto field = parse_bit_field(options.text());
  if (!field) {
    options.fail(
        "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but "
        "i64 is.");
    return;
  }
  const auto offset = parse_offset(call, options.text(), field->width);
  if (!offset) return options.fail(kBadOffset);
  const int64_t argument = kind == Kind::kGet ? 0 : options.integer();
  operations.push_back({kind, *field, *offset, argument, overflow});
}

std::vector<FieldOperation> parse_operations(const Call& call, OptionParser& options) {
  std::vector<FieldOperation> operations;
  BitOverflow overflow = BitOverflow::kWrap;
  while (options.more()) {
    if (options.word("GET", 2)) {
      parse_operation(call, options, Kind::kGet, overflow, operations);
    } else if (options.word("SET", 3)) {
      parse_operation(call, options, Kind::kSet, overflow, operations);
    } else if (options.word("INCRBY", 3)) {
      parse_operation(call, options, Kind::kIncrby, overflow, operations);
    } else if (options.word("OVERFLOW", 1)) {
      overflow = parse_overflow(options);
    } else {
      options.fail_syntax();
    }
  }
  return operations;
}

// The string was extended by zeros for a write that OVERFLOW FAIL then skipped: Redis neither
// notifies nor marks the key as modified. It is a change all the same, which the AOF repeats.
constexpr Event kGrownOnly{EventClass::kString, "", false};

// The bytes of a string, made writable by the first write that changes a value, so that a BITFIELD
// that changes nothing counts as no change.
class FieldString {
 public:
  explicit FieldString(Entry& entry) : entry_(entry) {
    if (entry) bytes_ = string_bytes(*entry.record(), scratch_);
  }

  void grow(size_t size) {
    if (size <= bytes_.size()) return;
    make_writable(size, kGrownOnly);
    grown_ = true;
  }
  std::string_view bytes() const { return bytes_; }
  bool changed() const { return writable_ != nullptr; }
  // An operation whose result equals the old value changes no bytes.
  void write(const FieldOperation& operation, int64_t old, int64_t value) {
    if (grown_) entry_.changed(kSetBit);
    if (value == old) return;
    if (writable_ == nullptr) make_writable(bytes_.size(), kSetBit);
    write_bit_field(writable_, operation.offset, operation.field, value);
  }

 private:
  void make_writable(size_t size, Event event) {
    writable_ = entry_.grow_string(size, event);
    bytes_ = {writable_, size};
  }

  Entry& entry_;
  IntegerText scratch_;
  std::string_view bytes_;
  char* writable_ = nullptr;
  bool grown_ = false;
};

void run_one(Call& call, FieldString& string, const FieldOperation& operation) {
  const int64_t old = read_bit_field(string.bytes(), operation.offset, operation.field);
  if (!operation.writes()) return call.reply.integer(old);
  const __int128 wanted = operation.kind == Kind::kIncrby
                              ? __int128{old} + operation.argument
                              : bit_field_argument(operation.field, operation.argument);
  const auto value = fit_bit_field(operation.field, wanted, operation.overflow);
  if (!value) return call.reply.null();
  string.write(operation, old, *value);
  call.reply.integer(operation.kind == Kind::kIncrby ? *value : old);
}

void write_fields(Call& call, const std::vector<FieldOperation>& operations) {
  Entry entry = call.keys.open(call.key(1));
  if (entry && entry.record()->type() != Type::kString) return answer::wrong_type(call);
  FieldString string(entry);
  uint64_t size = 0;
  for (const auto& operation : operations) {
    if (operation.writes()) size = std::max(size, operation.end_byte());
  }
  string.grow(size);
  call.reply.array(static_cast<int64_t>(operations.size()));
  for (const auto& operation : operations) run_one(call, string, operation);
  if (!string.changed()) entry.mark_string_modified();
}

void read_fields(Call& call, const std::vector<FieldOperation>& operations) {
  const Record* record = call.keys.read(call.key(1));
  if (record != nullptr && record->type() != Type::kString) return answer::wrong_type(call);
  IntegerText scratch;
  const std::string_view bytes =
      record == nullptr ? std::string_view{} : string_bytes(*record, scratch);
  call.reply.array(static_cast<int64_t>(operations.size()));
  for (const auto& operation : operations) {
    call.reply.integer(read_bit_field(bytes, operation.offset, operation.field));
  }
}

void run(Call& call, bool may_write) {
  OptionParser options(call.args, 2);
  const auto operations = parse_operations(call, options);
  if (options.failed()) return call.reply.error(options.error());
  const bool writes =
      std::any_of(operations.begin(), operations.end(), [](const auto& o) { return o.writes(); });
  if (!writes) return read_fields(call, operations);
  if (!may_write) return call.reply.error("ERR BITFIELD_RO only supports the GET subcommand");
  write_fields(call, operations);
}

}  // namespace

void bitfield(Call& call) {
  run(call, true);
}

void bitfield_ro(Call& call) {
  run(call, false);
}

}  // namespace sorrel::commands::bitmap
