#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/heap_size.h"
#include "structs/slab.h"

namespace sorrel {

// The type of a value, numbered for internal use only.
enum class Type : uint8_t { kString, kList, kSet, kZset, kHash, kStream, kBloom };

// How the value is stored in the record.
enum class Encoding : uint8_t {
  kInt,       // 8 bytes, a signed integer
  kEmbedded,  // length and bytes, inside the record
  kRaw,       // pointer to a RawString
  // Pointers to objects of the type's module.
  kListpack,
  kIntset,
  kQuicklist,
  kHashtable,
  kSkiplist,
  kStream,
  kBloom,
  kListpackEx,  // of hashes: with an expire time after each pair
};

struct Collection;

// Why a value is freed. For each reason a directive (lazyfree-lazy-...) says whether a big value is
// freed inline or lazily.
enum class Freeing : uint8_t {
  kOnTheWay,  // a command replaces it, or moves another value over it
  kDeleted,   // DEL
  kUnlinked,  // UNLINK: always lazily
  kExpired,
  kEvicted,
};
// A set of reasons, one bit each.
using FreeingSet = uint8_t;
constexpr FreeingSet bit_of(Freeing why) {
  return static_cast<FreeingSet>(1u << static_cast<unsigned>(why));
}

inline constexpr int64_t kNoExpiry = -1;

// One key with all its data, in one allocation:
//
//   [kind][flags][access x3][key length][expiry 8, if any][long key length 4, if any][key][value]
//
//   value, embedded: [length 1 or 2][bytes]    int: [8]    raw and collections: [pointer 8]
//
// A key of 16 bytes with a value of 32 takes 55 bytes. There is no NUL, no reference count, and no
// second dictionary for expire times. Records move when they grow: hold no pointer across a change
// of the same key.
class Record {
 public:
  static constexpr size_t kHeader = 6;

  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  Type type() const { return static_cast<Type>(kind_ & 15); }
  Encoding encoding() const { return static_cast<Encoding>(kind_ >> 4); }

  std::string_view key() const {
    const char* at = bytes() + kHeader + expiry_bytes();
    if ((flags_ & kLongKey) != 0) return {at + 4, load<uint32_t>(at)};
    return {at, key_length_};
  }
  bool has_expiry() const { return (flags_ & kExpiry) != 0; }
  // Absolute milliseconds since 1970, kNoExpiry when it never expires.
  int64_t expiry() const { return has_expiry() ? load<int64_t>(bytes() + kHeader) : kNoExpiry; }
  // Precondition: has_expiry().
  void set_expiry(int64_t at_ms) { store(bytes() + kHeader, at_ms); }

  // 24 bits for the eviction policy in force (LRU clock, or LFU minutes and counter).
  uint32_t access() const { return access_[0] | access_[1] << 8 | uint32_t{access_[2]} << 16; }
  void set_access(uint32_t value) {
    access_[0] = static_cast<uint8_t>(value);
    access_[1] = static_cast<uint8_t>(value >> 8);
    access_[2] = static_cast<uint8_t>(value >> 16);
  }

  // A string that was changed in place reports its encoding as `raw`, as in Redis.
  bool was_modified() const { return (flags_ & kModified) != 0; }

  // The phase of its arena in which the record was last written or visited: see
  // RecordArena::set_phase().
  bool phase() const { return (flags_ & kPhase) != 0; }
  void set_phase(bool phase) {
    flags_ = static_cast<uint8_t>(phase ? flags_ | kPhase : flags_ & ~kPhase);
  }

 private:
  friend class RecordArena;
  static constexpr uint8_t kExpiry = 1;
  static constexpr uint8_t kLongKey = 2;     // more than 255 bytes
  static constexpr uint8_t kApart = 4;       // allocated outside of the slab's pages
  static constexpr uint8_t kModified = 8;    // see was_modified()
  static constexpr uint8_t kLongValue = 16;  // the embedded length takes two bytes
  static constexpr uint8_t kPhase = 32;      // see phase()

  size_t expiry_bytes() const { return (flags_ & kExpiry) != 0 ? 8 : 0; }
  const char* bytes() const { return reinterpret_cast<const char*>(this); }
  char* bytes() { return reinterpret_cast<char*>(this); }
  const char* value_area() const {
    const std::string_view k = key();
    return k.data() + k.size();
  }
  char* value_area() { return const_cast<char*>(std::as_const(*this).value_area()); }

  uint8_t kind_;
  uint8_t flags_;
  uint8_t access_[3];
  uint8_t key_length_;
};
static_assert(sizeof(Record) == Record::kHeader, "the header is packed");

// Bytes of a string too long to embed, apart from the record so that growth is amortised and
// freeing can happen lazily.
struct RawString {
  uint64_t size;
  uint64_t capacity;
  char data[];

  std::string_view view() const { return {data, size}; }
  size_t memory_bytes() const { return heap_size(sizeof(RawString) + capacity); }
};

// Allocates, changes and frees the records of one partition and counts their bytes. Used under that
// partition's latch only.
class RecordArena {
 public:
  // A value that is no longer referenced.
  struct Garbage {
    Type type;
    Encoding encoding;
    void* data;
    size_t bytes;
  };
  static void free_garbage(const Garbage& garbage);  // any thread
  // Receives values that are too big to free inline.
  using FreeLater = void (*)(void* context, const Garbage& garbage);

  // `most_apart`: see Slab. With 0 a record takes as much as among many others.
  explicit RecordArena(size_t most_apart = Slab::kApartBytes) : slab_(most_apart) {}
  RecordArena(const RecordArena&) = delete;
  RecordArena& operator=(const RecordArena&) = delete;

  // A string record. `modified` as in Record::was_modified(). Integers are recognised (unless
  // modified) and stored as such.
  Record* make_string(std::string_view key, std::string_view value, int64_t expiry,
                      bool modified = false);
  Record* make_integer(std::string_view key, int64_t value, int64_t expiry);

  // Replaces the record's value by a string, and its expire time, in place if the block allows. The
  // result is the record to use from now on; the old pointer is invalid if it differs. `value` must
  // not point into the record.
  Record* assign_string(Record* record, std::string_view value, int64_t expiry,
                        bool modified = false);
  Record* assign_integer(Record* record, int64_t value, int64_t expiry);
  // Stores the bytes as text, even when they spell an integer (results of INCRBYFLOAT do not become
  // `int`). `record` null: a new one under `key`; else `key` is ignored.
  Record* assign_text(Record* record, std::string_view key, std::string_view value, int64_t expiry);
  // Stores a collection, which the record then owns. `record` null: a new one under `key`; else
  // `key` is ignored.
  Record* assign_collection(Record* record, std::string_view key, Type type,
                            const Collection& value, int64_t expiry);
  // The record's collection has changed (and perhaps moved); before, it took `bytes_before`.
  void update_collection(Record* record, const Collection& value, size_t bytes_before);
  // Same value, another expire time (kNoExpiry: none).
  Record* assign_expiry(Record* record, int64_t expiry);
  // Same value and expire time under another key, from another arena or this one. A long string's
  // bytes are moved, not copied.
  Record* take_over(RecordArena& source, Record* record, std::string_view key);
  // A copy of value and expire time under another key.
  Record* clone(const Record* record, std::string_view key);

  // For APPEND, SETRANGE, SETBIT: extends the string to `size` bytes (never shortens it), new bytes
  // zero. Returns the record and its bytes, which are writable until the next call.
  struct Mutable {
    Record* record;
    char* data;
  };
  Mutable resize_string(Record* record, size_t size);

  void free(Record* record, Freeing why = Freeing::kOnTheWay);

  // `when` says which values, if they are big, and outlives the arena; null: none.
  void set_free_later(FreeLater run, void* context, const FreeingSet* when) {
    free_later_ = run;
    free_later_context_ = context;
    free_later_when_ = when;
  }

  // The phase of records that are created, or get another value, from now on; existing records keep
  // theirs.
  void set_phase(bool phase) { phase_ = phase ? Record::kPhase : uint8_t{0}; }

  // The number of values so large that reading all of one takes milliseconds.
  static constexpr size_t kLargeValue = size_t{4} << 20;
  size_t large_values() const { return large_values_; }

  // Memory of the records, including the allocator's rounding and free blocks kept for reuse.
  size_t memory_bytes() const { return slab_.memory_bytes() + oversize_bytes_; }

  // Records freed in random order leave free blocks in pages that other records use. True: there
  // are enough of these for compact() to be worth its time.
  bool is_sparse() const { return slab_.is_sparse(); }
  // Moves the records of one page to others, calls `moved(from, to)` for each, and frees the page.
  // `from` is not readable by then. False: no page can be freed.
  bool compact(const std::function<void(const void* from, Record* to)>& moved) {
    return slab_.compact([&](void* from, void* to) { moved(from, static_cast<Record*>(to)); });
  }
  static size_t memory_of(const Record* record);

  // Read access, for types/string.h.
  static int64_t integer(const Record* record) { return load<int64_t>(record->value_area()); }
  static std::string_view embedded(const Record* record) {
    const char* at = record->value_area();
    if ((record->flags_ & Record::kLongValue) != 0) return {at + 2, load<uint16_t>(at)};
    return {at + 1, static_cast<uint8_t>(*at)};
  }
  static RawString* raw(const Record* record) { return load<RawString*>(record->value_area()); }
  static void* pointer(const Record* record) { return load<void*>(record->value_area()); }

 private:
  struct Shape;

  Record* allocate(std::string_view key, int64_t expiry, const Shape& shape);
  Record* allocate_apart(size_t bytes, std::string_view key, int64_t expiry, const Shape& shape);
  Record* reshape(Record* record, int64_t expiry, const Shape& shape);
  Record* reallocate(Record* record, int64_t expiry, const Shape& shape);
  static size_t bytes_of(const Record* record);
  void write_header(Record* at, std::string_view key, int64_t expiry, const Shape& shape) const;
  static Shape shape_of(const Record* record);
  // The size of the value outside of the record.
  static size_t outside_bytes(const Record* record);
  // A value's size outside of its record has changed from `before` to `now`.
  void count_outside(size_t before, size_t now) {
    oversize_bytes_ += now - before;
    large_values_ += size_t{now >= kLargeValue} - size_t{before >= kLargeValue};
  }
  void free_value(Record* record, Freeing why = Freeing::kOnTheWay);
  static bool takes_long_to_free(const Garbage& garbage);
  void free_block(Record* record);
  RawString* make_raw(std::string_view value, size_t capacity);

  Slab slab_;
  size_t oversize_bytes_ = 0;  // records too big for the slab, and data outside of records
  size_t large_values_ = 0;
  uint8_t phase_ = 0;  // Record::kPhase or nothing
  FreeLater free_later_ = nullptr;
  void* free_later_context_ = nullptr;
  const FreeingSet* free_later_when_ = nullptr;
};

}  // namespace sorrel
