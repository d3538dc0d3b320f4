#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sorrel {

class Random;

// State numbers of tables. Tables that draw from the same source never share a number, so a guess
// for one table is never used for another, nor for a destroyed one. As thread-safe as the tables
// themselves.
class TableStamps {
 public:
  uint64_t draw() { return ++last_; }

 private:
  uint64_t last_ = 0;
};

// A hash table of pointers, made for one cache miss per lookup before the entry itself, for bounded
// work per insert, and for an even number of bytes per entry at every size.
//
//   directory            segment                        bucket: one cache line, 8 slots
//   (top hash bits)      +--------+--------------+       +----------------+-----+------+
//   [0] ───────────────> | header | buckets 1-63 |       | 16 hash | ptr  | ... | slot |
//   [1] ─┐               +--------+--------------+       +----------------+-----+------+
//   [2] ─┴─────────────> ...                              ^ low hash bits
//
// - The directory is extendible: a segment that outgrows 63 buckets is split in two by the next
//   hash bit and only it; the directory itself doubles by copying pointers.
// - Inside a segment the 16 low hash bits, kept in each slot, choose the home bucket by
//   multiplication (bits * homes / 65536), so a segment grows by a fifth at a time without reading
//   any entry.
// - An entry whose home is full goes to the next bucket with a free slot, wrapping around. Each
//   bucket counts the entries that passed it, in a spare bit of each slot, so a search knows where
//   to stop, also after the entry was erased.
// - A segment is rebuilt larger, or split, at four fifths load. Its sizes are allocators' size
//   classes.
//
// Memory per entry stays between 10 and 13 bytes, and the longest single step moves about 410
// pointers. Entries must be 8-aligned and live below 2^48; bit 1 is free for their owner, who may
// also store numbers in place of pointers. The table owns none of them.
//
// Each slot has one mark (the keyspace marks entries with an expire time), and each segment stores
// the earliest expire time of its marked entries, so that a sweep skips a segment after one look.
//
// Not thread-safe. Positions are valid until the next insert or erase.
class Table {
 public:
  using HashOf = uint64_t (*)(const void* entry, const void* context);

  struct Segment;
  struct Position {
    Segment* segment = nullptr;
    uint64_t* slot = nullptr;
    explicit operator bool() const { return slot != nullptr; }
    void* entry() const { return entry_of(*slot); }
  };

  // `stamps` outlives every use of the table but its destruction.
  Table(HashOf hash_of, const void* context, TableStamps& stamps);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  Table(Table&& other) noexcept;
  Table& operator=(Table&& other) noexcept;

  size_t size() const { return size_; }
  size_t marked() const { return marked_; }
  // Directory and segments; not the entries.
  size_t memory_bytes() const { return memory_bytes_; }

  // The entry for which equals(entry) is true, tested only where the hash bits agree, or an empty
  // Position.
  template <class Equals>
  Position find(uint64_t hash, Equals&& equals) const;

  // Precondition: no equal entry is present. Invalidates other positions.
  Position insert(uint64_t hash, void* entry);
  // Replaces the entry by another one of the same hash; the mark stays.
  void replace(Position at, void* entry) { *at.slot = (*at.slot & ~kPointerBits) | bits_of(entry); }
  // The entry at `from` has moved to `to`, otherwise unchanged. `from` is not read.
  void move_entry(const void* from, void* to);
  // Invalidates positions.
  void erase(Position at);
  // Forgets all entries without reading them.
  void clear();
  // Reserves space for so many entries at once. Does nothing unless the table is empty. Unlike all
  // other operations, takes time in proportion to the number.
  void reserve(size_t count);
  // Releases space reserved for entries that were not added. Invalidates positions.
  void release_spare();

  bool is_marked(Position at) const { return (*at.slot & kMark) != 0; }
  // Marks the entry, or changes its expire time.
  void mark(Position at, int64_t due);
  void unmark(Position at);

  // Two steps of prefetching for commands parsed ahead: the bucket's line, then the entry's. The
  // second step also guesses the entry; find() uses and verifies the guess if it was made for the
  // same table and the table has not changed since. The table must not change between the two
  // steps.
  struct Bucket;
  struct Guess {
    Segment* segment = nullptr;
    uint64_t* slot = nullptr;  // after the first step its bucket's first
    uint64_t stamp = 0;        // the state of the table at the first step; 0: no guess
  };
  Guess prefetch_bucket(uint64_t hash) const;
  // A step before the first, for prefetching further ahead: the bucket's address.
  void prefetch_directory(uint64_t hash) const {
    __builtin_prefetch(&directory_[(hash >> 1) >> shift_]);
  }
  static void prefetch_entry(Guess& guess, uint64_t hash);
  template <class Equals>
  Position find(uint64_t hash, const Guess& guess, Equals&& equals) const;
  // The guessed entry after the second step, if it is valid for this table; else null. The caller
  // verifies that it is the right entry.
  void* guessed_entry(const Guess& guess) const {
    if (guess.stamp != stamp_) return nullptr;
    const uint64_t slot = *guess.slot;
    return is_entry(slot) ? entry_of(slot) : nullptr;
  }

  // SCAN: calls `visit` for every entry of one bucket and returns the cursor of the next, 0 at the
  // end. An entry present from the first call (with 0) to the last is visited at least once,
  // whatever is inserted, erased, grown or shrunk in between. Cursors stay below 2^43. `visit` must
  // not change the table. Any number is a valid cursor.
  uint64_t scan(uint64_t cursor, const std::function<void(void*)>& visit) const;

  // A uniformly random entry. Precondition: size() > 0.
  void* random_entry(Random& random) const;
  // Adds `count` different entries to `found`, or all when there are fewer: neighbours from a
  // random place on. An entry's place is independent of its key, so they are as good as ones from
  // all over the table, and much cheaper. They are prefetched.
  enum class Which : uint8_t { kAll, kMarked };
  void sample(Random& random, size_t count, Which which, std::vector<void*>& found) const;

  void for_each(const std::function<void(void*)>& visit) const;
  // A walk in steps between which the table may change: prefetches and visits the entries of one
  // segment, and moves `position` to the next (0 again at the end). An entry present from the first
  // step (with 0) to the last is visited at least once.
  void visit_segment(uint64_t& position, const std::function<void(void*)>& visit) const;

  // Sweep of expire times: examines one segment and moves `position` to the next (wraps to 0 at the
  // end). When the segment's earliest expire time is at most `now`, calls `visit` for each marked
  // entry; visit returns the entry's expire time, or kGone for one that the caller will erase after
  // the call. Returns the number of marked entries visited.
  static constexpr int64_t kGone = std::numeric_limits<int64_t>::max();
  size_t sweep_segment(uint64_t& position, int64_t now, const std::function<int64_t(void*)>& visit);
  // No marked entry expires before this; kGone when none is marked. One look per segment.
  int64_t earliest_due() const;

 private:
  static constexpr uint64_t kMark = 1;
  // One of eight in a bucket: seven give the number of entries that passed it, the last slot's says
  // that the number is not zero.
  static constexpr uint64_t kTally = 4;
  static constexpr uint64_t kPointerBits = 0x0000fffffffffffaull;
  static constexpr uint64_t kHashBits = 0xffffull << 48;
  static constexpr unsigned kSlots = 8;
  static constexpr unsigned kMostTally = 127;

  static bool is_entry(uint64_t slot) { return (slot & kPointerBits) != 0; }
  static void* entry_of(uint64_t slot) { return reinterpret_cast<void*>(slot & kPointerBits); }
  static uint64_t bits_of(const void* entry) { return reinterpret_cast<uint64_t>(entry); }
  static Segment* segment_of(uint64_t directory_entry) {
    return reinterpret_cast<Segment*>(directory_entry & kPointerBits);
  }
  static Bucket* buckets_of(Segment* segment);
  static unsigned match(const Bucket& bucket, uint64_t low_hash);
  static bool was_passed(const Bucket& bucket);
  static Bucket* next_bucket(Segment* segment, uint64_t* slots);
  static unsigned tally_of(const Bucket& bucket);
  static void set_tally(Bucket& bucket, unsigned tally);
  static unsigned home_of(const Segment& segment, uint64_t slot);
  static void forget_passing(Segment* segment, const uint64_t* slot);

  uint64_t directory_entry(uint64_t hash) const { return directory_[(hash >> 1) >> shift_]; }

  using SlotList = std::vector<uint64_t>;
  Segment* new_segment(unsigned step, unsigned depth);
  void free_segment(Segment* segment);
  static uint64_t* place(Segment* segment, uint64_t slot_bits);
  Segment* build(const SlotList& slots, const Segment& like, unsigned depth);
  bool may_split(const Segment& segment) const;
  void make_room(uint64_t hash);
  void split(uint64_t hash, Segment* segment);
  void shrink(uint64_t hash, Segment* segment);
  void point_directory(uint64_t hash, Segment* segment);
  void double_directory();
  void halve_directory_if_possible();
  void free_all();
  void reset();
  void steal(Table& other);
  // From that slot on, around the whole segment, until `found` has `wanted` entries with these
  // bits.
  static void sample_segment(Segment* segment, uint64_t from_slot, size_t wanted, uint64_t bits,
                             std::vector<void*>& found);
  // The segment at that position of a walk; advances the position.
  Segment* next_segment(uint64_t& position) const;
  template <class Visit>
  static void for_each_slot(Segment* segment, Visit&& visit);
  template <class Visit>
  static void for_each_slot_of_home(Segment* segment, unsigned home, Visit&& visit);

  HashOf hash_of_;
  const void* context_;
  uint64_t* directory_ = nullptr;  // 1 << depth_ entries: segment pointer | homes << 48
  unsigned depth_ = 0;
  unsigned shift_ = 63;  // 63 - depth_
  size_t size_ = 0;
  size_t marked_ = 0;
  size_t memory_bytes_ = 0;
  TableStamps* stamps_;
  uint64_t stamp_ = 0;           // drawn again whenever entries may have moved
  size_t deepest_segments_ = 0;  // segments whose depth equals depth_
};

// One cache line of metadata before the buckets; successful lookups never read it.
struct alignas(64) Table::Segment {
  uint16_t homes;
  uint16_t depth;
  uint32_t step;  // index into the table of sizes
  uint32_t count;
  uint32_t marked;
  int64_t earliest_due;
};

struct alignas(64) Table::Bucket {
  uint64_t slots[kSlots];
};

inline bool Table::was_passed(const Bucket& bucket) {
  return (bucket.slots[kSlots - 1] & kTally) != 0;
}

inline Table::Bucket* Table::buckets_of(Segment* segment) {
  return reinterpret_cast<Bucket*>(segment + 1);
}

// The bucket after the one that begins with these slots.
inline Table::Bucket* Table::next_bucket(Segment* segment, uint64_t* slots) {
  Bucket* next = reinterpret_cast<Bucket*>(slots) + 1;
  return next == buckets_of(segment) + segment->homes ? buckets_of(segment) : next;
}

// Bit 4 * i + 3 is set when slot i's stored hash bits equal `low_hash`. Empty slots may match; the
// caller verifies.
inline unsigned Table::match(const Bucket& bucket, uint64_t low_hash) {
#if defined(__SSE2__)
  // Compares all words, narrows each result to a byte, and stores every slot's top word.
  const auto* lines = reinterpret_cast<const __m128i*>(bucket.slots);
  const __m128i wanted = _mm_set1_epi16(static_cast<short>(low_hash));
  const __m128i low = _mm_packs_epi16(_mm_cmpeq_epi16(_mm_load_si128(lines), wanted),
                                      _mm_cmpeq_epi16(_mm_load_si128(lines + 1), wanted));
  const __m128i high = _mm_packs_epi16(_mm_cmpeq_epi16(_mm_load_si128(lines + 2), wanted),
                                       _mm_cmpeq_epi16(_mm_load_si128(lines + 3), wanted));
  return (static_cast<unsigned>(_mm_movemask_epi8(low)) |
          static_cast<unsigned>(_mm_movemask_epi8(high)) << 16) &
         0x88888888u;
#else
  unsigned found = 0;
  for (unsigned i = 0; i < kSlots; i++) {
    if (bucket.slots[i] >> 48 == low_hash) found |= 8u << (4 * i);
  }
  return found;
#endif
}

inline Table::Guess Table::prefetch_bucket(uint64_t hash) const {
  const uint64_t directory = directory_entry(hash);
  Segment* segment = segment_of(directory);
  Bucket* bucket = buckets_of(segment) + (((hash & 0xffff) * (directory >> 48)) >> 16);
  __builtin_prefetch(bucket);
  return {segment, bucket->slots, stamp_};
}

inline void Table::prefetch_entry(Guess& guess, uint64_t hash) {
  const auto* bucket = reinterpret_cast<const Bucket*>(guess.slot);
  unsigned found = match(*bucket, hash & 0xffff);
  if (found == 0) [[unlikely]] {
    // Entries outside their home bucket are mostly in the next one.
    if (was_passed(*bucket)) {
      guess.slot = next_bucket(guess.segment, guess.slot)->slots;
      found = match(*reinterpret_cast<const Bucket*>(guess.slot), hash & 0xffff);
    }
    if (found == 0) {
      guess.stamp = 0;
      return;
    }
  }
  guess.slot += static_cast<unsigned>(__builtin_ctz(found)) >> 2;
  // Most entries reach into a second line; a store to it that misses stalls the following ones. An
  // address, not a pointer: there may be no entry, see match().
  const uint64_t entry = *guess.slot & kPointerBits;
  __builtin_prefetch(reinterpret_cast<const void*>(entry));
  __builtin_prefetch(reinterpret_cast<const void*>(entry + 48));
}

template <class Equals>
inline Table::Position Table::find(uint64_t hash, Equals&& equals) const {
  const uint64_t directory = directory_entry(hash);
  Segment* segment = segment_of(directory);
  const uint64_t low_hash = hash & 0xffff;
  const uint64_t homes = directory >> 48;
  uint64_t home = (low_hash * homes) >> 16;
  for (uint64_t seen = 1;; seen++) {
    Bucket* bucket = buckets_of(segment) + home;
    unsigned found = match(*bucket, low_hash);
    while (found != 0) {
      uint64_t* slot = &bucket->slots[static_cast<unsigned>(__builtin_ctz(found)) >> 2];
      if (is_entry(*slot) && equals(entry_of(*slot))) return Position{segment, slot};
      found &= found - 1;
    }
    if (!was_passed(*bucket) || seen == homes) return Position{};
    home = home + 1 == homes ? 0 : home + 1;
  }
}

template <class Equals>
inline Table::Position Table::find(uint64_t hash, const Guess& guess, Equals&& equals) const {
  if (void* entry = guessed_entry(guess); entry != nullptr && equals(entry)) {
    return Position{guess.segment, guess.slot};
  }
  return find(hash, equals);
}

}  // namespace sorrel
