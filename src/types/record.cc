// Every write of a key passes through here: an overwrite stays in place when the block size allows,
// and big values are freed by another thread.

#include "types/record.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include "base/numbers.h"
#include "types/collection.h"

namespace sorrel {

// The planned content of the value area.
struct RecordArena::Shape {
  Type type = Type::kString;
  Encoding encoding;
  uint8_t flags = 0;  // kModified, kLongValue
  size_t value_bytes;

  static Shape integer() { return {Type::kString, Encoding::kInt, 0, 8}; }
  static Shape collection(Type type, Encoding encoding) { return {type, encoding, 0, 8}; }
  static Shape raw(bool modified) {
    return {Type::kString, Encoding::kRaw, modified ? Record::kModified : uint8_t{0}, 8};
  }
  static Shape embedded(size_t length, bool modified) {
    uint8_t flags = modified ? Record::kModified : uint8_t{0};
    if (length > 255) flags |= Record::kLongValue;
    return {Type::kString, Encoding::kEmbedded, flags, length + (length > 255 ? 2 : 1)};
  }
};

namespace {

// One block is freed inline up to this size; above it, unmapping and returning pages to the system
// takes long enough for another thread. A collection of many blocks is freed lazily from as many
// elements on as in Redis.
constexpr size_t kFreeLaterBytes = size_t{1} << 20;
constexpr size_t kFreeLaterElements = 64;

// Longer integers have a sign and 19 digits at least, more than any int64.
constexpr size_t kLongestInteger = 20;

size_t record_bytes(size_t key, int64_t expiry, size_t value) {
  return Record::kHeader + (expiry != kNoExpiry ? 8 : 0) + (key > 255 ? 4 : 0) + key + value;
}

bool fits_embedded(size_t key, size_t length) {
  // Sized as if it had an expire time, so that EXPIRE never has to move the bytes out.
  return record_bytes(key, 0, length + 2) <= Slab::kMaxBlock;
}

// Most values are embedded, and freed with the record at no cost.
bool lies_outside(const Record* record) {
  return record->encoding() >= Encoding::kRaw;
}

std::optional<int64_t> as_integer(std::string_view value) {
  if (value.empty() || value.size() > kLongestInteger) return std::nullopt;
  const char first = value[0];
  if (first != '-' && (first < '0' || first > '9')) return std::nullopt;
  return parse_int64(value);
}

// Writes the length of an embedded string; returns the place of its bytes.
char* put_length(char* area, size_t length) {
  if (length > 255) {
    store(area, static_cast<uint16_t>(length));
    return area + 2;
  }
  *area = static_cast<char>(length);
  return area + 1;
}

void put_embedded(char* area, std::string_view value) {
  copy_bytes(put_length(area, value.size()), value.data(), value.size());
}

}  // namespace

void RecordArena::write_header(Record* at, std::string_view key, int64_t expiry,
                               const Shape& shape) const {
  uint8_t flags = shape.flags | phase_;
  if (expiry != kNoExpiry) flags |= Record::kExpiry;
  if (key.size() > 255) flags |= Record::kLongKey;
  at->kind_ = static_cast<uint8_t>(static_cast<unsigned>(shape.type) |
                                   static_cast<unsigned>(shape.encoding) << 4);
  at->flags_ = flags;
  at->key_length_ = static_cast<uint8_t>(key.size());
  char* expiry_at = at->bytes() + Record::kHeader;
  char* length_at = expiry_at + (expiry != kNoExpiry ? 8 : 0);
  // The key first: on an in-place rewrite it moves by the eight bytes of the expire time, which may
  // overwrite its old place.
  std::memmove(length_at + (key.size() > 255 ? 4 : 0), key.data(), key.size());
  if (expiry != kNoExpiry) store(expiry_at, expiry);
  if (key.size() > 255) store(length_at, static_cast<uint32_t>(key.size()));
}

Record* RecordArena::allocate(std::string_view key, int64_t expiry, const Shape& shape) {
  const size_t bytes = record_bytes(key.size(), expiry, shape.value_bytes);
  void* block = bytes <= Slab::kMaxBlock ? slab_.allocate(bytes) : nullptr;
  if (block == nullptr) [[unlikely]]
    return allocate_apart(bytes, key, expiry, shape);
  auto* record = static_cast<Record*>(block);
  write_header(record, key, expiry, shape);
  record->set_access(0);
  return record;
}

Record* RecordArena::allocate_apart(size_t bytes, std::string_view key, int64_t expiry,
                                    const Shape& shape) {
  void* block = nullptr;
  if (bytes <= Slab::kMaxBlock) {
    block = slab_.allocate_apart(bytes);
  } else {
    block = std::malloc(bytes);
    if (block == nullptr) throw std::bad_alloc();
    oversize_bytes_ += heap_size(bytes);
  }
  auto* record = static_cast<Record*>(block);
  write_header(record, key, expiry, shape);
  record->flags_ |= Record::kApart;
  record->set_access(0);
  return record;
}

// The record's own size; its slab block is this, rounded.
inline size_t RecordArena::bytes_of(const Record* record) {
  size_t value = 8;
  if (record->encoding() == Encoding::kEmbedded) {
    value = embedded(record).size() + ((record->flags_ & Record::kLongValue) != 0 ? 2 : 1);
  }
  return record_bytes(record->key().size(), record->expiry(), value);
}

// Same key, another value: in place when the new size needs a block of the same size.
[[gnu::always_inline]] inline Record* RecordArena::reshape(Record* record, int64_t expiry,
                                                           const Shape& shape) {
  const std::string_view key = record->key();
  const size_t bytes = record_bytes(key.size(), expiry, shape.value_bytes);
  // Asking the slab for the size would touch another cache line.
  if (bytes <= Slab::kMaxBlock && Slab::rounded(bytes) == Slab::rounded(bytes_of(record))) {
    if ((expiry != kNoExpiry) == record->has_expiry()) {
      // The usual overwrite: key and expire time stay in place.
      record->kind_ = static_cast<uint8_t>(static_cast<unsigned>(shape.type) |
                                           static_cast<unsigned>(shape.encoding) << 4);
      record->flags_ = (record->flags_ & (Record::kExpiry | Record::kLongKey | Record::kApart)) |
                       shape.flags | phase_;
      if (expiry != kNoExpiry) record->set_expiry(expiry);
    } else {
      const uint8_t apart = record->flags_ & Record::kApart;
      write_header(record, key, expiry, shape);
      record->flags_ |= apart;
    }
    return record;
  }
  return reallocate(record, expiry, shape);
}

Record* RecordArena::reallocate(Record* record, int64_t expiry, const Shape& shape) {
  Record* fresh = allocate(record->key(), expiry, shape);
  fresh->set_access(record->access());
  free_block(record);
  return fresh;
}

RawString* RecordArena::make_raw(std::string_view value, size_t capacity) {
  auto* string = static_cast<RawString*>(std::malloc(sizeof(RawString) + capacity));
  if (string == nullptr) throw std::bad_alloc();
  string->size = value.size();
  string->capacity = capacity;
  std::memcpy(string->data, value.data(), value.size());
  count_outside(0, string->memory_bytes());
  return string;
}

Record* RecordArena::make_string(std::string_view key, std::string_view value, int64_t expiry,
                                 bool modified) {
  if (!modified) {
    if (const auto number = as_integer(value)) return make_integer(key, *number, expiry);
  }
  if (fits_embedded(key.size(), value.size())) {
    Record* record = allocate(key, expiry, Shape::embedded(value.size(), modified));
    put_embedded(record->value_area(), value);
    return record;
  }
  Record* record = allocate(key, expiry, Shape::raw(modified));
  store(record->value_area(), make_raw(value, value.size()));
  return record;
}

Record* RecordArena::make_integer(std::string_view key, int64_t value, int64_t expiry) {
  Record* record = allocate(key, expiry, Shape::integer());
  store(record->value_area(), value);
  return record;
}

Record* RecordArena::assign_string(Record* record, std::string_view value, int64_t expiry,
                                   bool modified) {
  if (!modified) {
    if (const auto number = as_integer(value)) return assign_integer(record, *number, expiry);
  }
  if (lies_outside(record)) free_value(record);
  if (fits_embedded(record->key().size(), value.size())) {
    record = reshape(record, expiry, Shape::embedded(value.size(), modified));
    put_embedded(record->value_area(), value);
    return record;
  }
  record = reshape(record, expiry, Shape::raw(modified));
  store(record->value_area(), make_raw(value, value.size()));
  return record;
}

Record* RecordArena::assign_text(Record* record, std::string_view key, std::string_view value,
                                 int64_t expiry) {
  record = record == nullptr ? make_string(key, value, expiry, true)
                             : assign_string(record, value, expiry, true);
  record->flags_ &= static_cast<uint8_t>(~Record::kModified);
  return record;
}

Record* RecordArena::assign_integer(Record* record, int64_t value, int64_t expiry) {
  if (lies_outside(record)) free_value(record);
  record = reshape(record, expiry, Shape::integer());
  store(record->value_area(), value);
  return record;
}

RecordArena::Shape RecordArena::shape_of(const Record* record) {
  if (record->type() != Type::kString) {
    return Shape::collection(record->type(), record->encoding());
  }
  if (record->encoding() == Encoding::kInt) return Shape::integer();
  if (record->encoding() == Encoding::kRaw) return Shape::raw(record->was_modified());
  return Shape::embedded(embedded(record).size(), record->was_modified());
}

Record* RecordArena::assign_collection(Record* record, std::string_view key, Type type,
                                       const Collection& value, int64_t expiry) {
  const Shape shape = Shape::collection(type, value.encoding);
  if (record == nullptr) {
    record = allocate(key, expiry, shape);
  } else {
    if (lies_outside(record)) free_value(record);
    record = reshape(record, expiry, shape);
  }
  store(record->value_area(), value.data);
  count_outside(0, collection_ops(type).memory(value));
  return record;
}

void RecordArena::update_collection(Record* record, const Collection& value, size_t bytes_before) {
  record->kind_ = static_cast<uint8_t>(static_cast<unsigned>(record->type()) |
                                       static_cast<unsigned>(value.encoding) << 4);
  store(record->value_area(), value.data);
  count_outside(bytes_before, collection_ops(record->type()).memory(value));
}

Record* RecordArena::assign_expiry(Record* record, int64_t expiry) {
  if (expiry != kNoExpiry && record->has_expiry()) {
    record->set_expiry(expiry);
    return record;
  }
  if (expiry == kNoExpiry && !record->has_expiry()) return record;
  // The value area moves, so it is taken out and stored again as a whole.
  char saved[Slab::kMaxBlock];
  const Shape shape = shape_of(record);
  std::memcpy(saved, record->value_area(), shape.value_bytes);
  record = reshape(record, expiry, shape);
  std::memcpy(record->value_area(), saved, shape.value_bytes);
  return record;
}

Record* RecordArena::take_over(RecordArena& source, Record* record, std::string_view key) {
  Record* fresh = nullptr;
  const size_t outside = outside_bytes(record);
  if (outside != 0) {
    fresh = allocate(key, record->expiry(), shape_of(record));
    store(fresh->value_area(), pointer(record));
    source.count_outside(outside, 0);
    count_outside(0, outside);
  } else {
    fresh = clone(record, key);
  }
  fresh->set_access(record->access());
  source.free_block(record);
  return fresh;
}

Record* RecordArena::clone(const Record* record, std::string_view key) {
  const int64_t expiry = record->expiry();
  if (record->type() != Type::kString) {
    const Collection copy = collection_ops(record->type()).clone(collection_of(*record));
    return assign_collection(nullptr, key, record->type(), copy, expiry);
  }
  if (record->encoding() == Encoding::kInt) return make_integer(key, integer(record), expiry);
  const std::string_view value =
      record->encoding() == Encoding::kRaw ? raw(record)->view() : embedded(record);
  Record* fresh = make_string(key, value, expiry, true);
  if (!record->was_modified()) fresh->flags_ &= static_cast<uint8_t>(~Record::kModified);
  return fresh;
}

RecordArena::Mutable RecordArena::resize_string(Record* record, size_t size) {
  const int64_t expiry = record->expiry();
  if (record->encoding() == Encoding::kRaw) {
    RawString* string = raw(record);
    record->flags_ |= Record::kModified;
    if (size > string->capacity) {
      // Doubling up to a megabyte, then a megabyte at a time: appends stay cheap and the slack
      // bounded.
      const size_t capacity = size < (1u << 20) ? size * 2 : size + (1u << 20);
      count_outside(string->memory_bytes(), heap_size(sizeof(RawString) + capacity));
      void* grown = std::realloc(string, sizeof(RawString) + capacity);
      if (grown == nullptr) throw std::bad_alloc();
      string = static_cast<RawString*>(grown);
      string->capacity = capacity;
      store(record->value_area(), string);
    }
    if (size > string->size) {
      std::memset(string->data + string->size, 0, size - string->size);
      string->size = size;
    }
    return {record, string->data};
  }
  char saved[Slab::kMaxBlock];
  size_t length = 0;
  if (record->encoding() == Encoding::kInt) {
    length = static_cast<size_t>(format_int64(integer(record), saved));
  } else {
    const std::string_view value = embedded(record);
    std::memcpy(saved, value.data(), value.size());
    length = value.size();
  }
  size = std::max(size, length);
  const std::string_view old(saved, length);
  if (fits_embedded(record->key().size(), size)) {
    record = reshape(record, expiry, Shape::embedded(size, true));
    char* area = put_length(record->value_area(), size);
    std::memcpy(area, old.data(), length);
    std::memset(area + length, 0, size - length);
    return {record, area};
  }
  record = reshape(record, expiry, Shape::raw(true));
  RawString* string = make_raw(old, size);
  std::memset(string->data + length, 0, size - length);
  string->size = size;
  store(record->value_area(), string);
  return {record, string->data};
}

size_t RecordArena::outside_bytes(const Record* record) {
  if (record->type() != Type::kString) {
    return collection_ops(record->type()).memory(collection_of(*record));
  }
  return record->encoding() == Encoding::kRaw ? raw(record)->memory_bytes() : 0;
}

void RecordArena::free_garbage(const Garbage& garbage) {
  if (garbage.type == Type::kString) {
    std::free(garbage.data);
  } else {
    collection_ops(garbage.type).free({garbage.encoding, garbage.data});
  }
}

namespace {

bool is_more_than(const RecordArena::Garbage& garbage, size_t bytes, size_t elements) {
  if (garbage.bytes >= bytes) return true;
  switch (garbage.encoding) {
    case Encoding::kQuicklist:
    case Encoding::kHashtable:
    case Encoding::kSkiplist:
    case Encoding::kStream:
      return collection_ops(garbage.type).size({garbage.encoding, garbage.data}) > elements;
    default:
      return false;  // a single block
  }
}

// Values above this are freed lazily whatever the directives say: freeing a million elements takes
// as long as a hundred thousand commands.
bool takes_too_long_to_free(const RecordArena::Garbage& garbage) {
  constexpr size_t kBytes = size_t{4} << 20;
  constexpr size_t kElements = 10'000;
  return is_more_than(garbage, kBytes, kElements);
}

}  // namespace

bool RecordArena::takes_long_to_free(const Garbage& garbage) {
  return is_more_than(garbage, kFreeLaterBytes, kFreeLaterElements);
}

void RecordArena::free_value(Record* record, Freeing why) {
  const Garbage garbage{record->type(), record->encoding(), pointer(record), outside_bytes(record)};
  count_outside(garbage.bytes, 0);
  const auto later = [&] {
    const bool asked = (*free_later_when_ & bit_of(why)) != 0;
    return asked ? takes_long_to_free(garbage) : takes_too_long_to_free(garbage);
  };
  if (free_later_ != nullptr && later()) {
    free_later_(free_later_context_, garbage);
  } else {
    free_garbage(garbage);
  }
}

void RecordArena::free_block(Record* record) {
  if ((record->flags_ & Record::kApart) == 0) {
    slab_.release(record);
    return;
  }
  const size_t bytes = bytes_of(record);
  if (bytes <= Slab::kMaxBlock) return slab_.release_apart(record, bytes);
  oversize_bytes_ -= heap_size(bytes);
  std::free(record);
}

void RecordArena::free(Record* record, Freeing why) {
  if (lies_outside(record)) free_value(record, why);
  free_block(record);
}

size_t RecordArena::memory_of(const Record* record) {
  const size_t bytes = bytes_of(record);
  const bool apart = (record->flags_ & Record::kApart) != 0;
  return (apart ? heap_size(bytes) : Slab::rounded(bytes)) + outside_bytes(record);
}

}  // namespace sorrel
