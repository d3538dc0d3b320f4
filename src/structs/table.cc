// Bounded work per insert rules out rehashing the whole table: segments grow, split and merge on
// their own, and SCAN cursors must stay valid across all of that.

#include "structs/table.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/random.h"

namespace sorrel {
namespace {

// The number of buckets that a segment may have. With its header a segment is then exactly a size
// class of jemalloc, so rounding wastes nothing. It splits at the last usual step; larger ones are
// for entries whose hashes agree in so many bits that splitting does not separate them.
constexpr std::array<uint16_t, 24> kSteps = {1,  2,  3,  4,   5,    6,    7,     9,
                                             11, 13, 15, 19,  23,   27,   31,    39,
                                             47, 55, 63, 255, 1023, 4095, 16383, 65535};
constexpr unsigned kLastStep = kSteps.size() - 1;
constexpr unsigned kLastUsualStep = 18;
static_assert(kSteps[kLastUsualStep] == 63);

// Cursor: prefix of 27 bits | depth of 5 | step of 5 | place of 6. A place is a home bucket, or
// 1/63 of the hash bits in a segment with more buckets.
constexpr unsigned kPrefixBits = 27;
constexpr unsigned kMaxDepth = kPrefixBits;
constexpr unsigned kMostPlaces = 63;
static_assert(kSteps.size() <= 32, "a step index takes five bits of a cursor");
static_assert(kMaxDepth < 32, "a depth takes five bits of a cursor");
static_assert(kMostPlaces <= 64, "a place takes six bits of a cursor");

unsigned places_of(unsigned homes) {
  return std::min(homes, kMostPlaces);
}

// Up to this load about one entry in eleven is outside its home bucket.
size_t capacity_of(unsigned homes) {
  return homes == 1 ? 8 : homes * size_t{13} / 2;
}

// The smallest step that holds `count` entries with some spare slots.
unsigned step_for(size_t count) {
  if (count <= capacity_of(1)) return 0;
  unsigned step = 1;
  while (step < kLastStep && count > kSteps[step] * size_t{6}) step++;
  return step;
}

}  // namespace

unsigned Table::home_of(const Segment& segment, uint64_t slot) {
  return static_cast<unsigned>(((slot >> 48) * segment.homes) >> 16);
}

unsigned Table::tally_of(const Bucket& bucket) {
  unsigned tally = 0;
  for (unsigned i = 0; i < kSlots - 1; i++) {
    tally |= (bucket.slots[i] & kTally) != 0 ? 1u << i : 0;
  }
  return tally;
}

void Table::set_tally(Bucket& bucket, unsigned tally) {
  const auto write = [](uint64_t& slot, bool on) { slot = on ? slot | kTally : slot & ~kTally; };
  for (unsigned i = 0; i < kSlots - 1; i++) write(bucket.slots[i], (tally >> i & 1) != 0);
  write(bucket.slots[kSlots - 1], tally != 0);
}

// Calls `visit` with each slot of the entries whose home is that bucket.
template <class Visit>
void Table::for_each_slot_of_home(Segment* segment, unsigned home, Visit&& visit) {
  unsigned at = home;
  for (unsigned seen = 0; seen < segment->homes; seen++) {
    const Bucket& bucket = buckets_of(segment)[at];
    for (const uint64_t slot : bucket.slots) {
      if (is_entry(slot) && home_of(*segment, slot) == home) visit(slot);
    }
    if (!was_passed(bucket)) return;
    at = at + 1 == segment->homes ? 0 : at + 1;
  }
}

template <class Visit>
void Table::for_each_slot(Segment* segment, Visit&& visit) {
  Bucket* buckets = buckets_of(segment);
  for (unsigned i = 0; i < segment->homes; i++) {
    for (const uint64_t slot : buckets[i].slots) {
      if (is_entry(slot)) visit(slot & ~kTally);
    }
  }
}

Table::Table(HashOf hash_of, const void* context, TableStamps& stamps)
    : hash_of_(hash_of), context_(context), stamps_(&stamps) {
  reset();
}

Table::~Table() {
  free_all();
}

Table::Table(Table&& other) noexcept
    : hash_of_(other.hash_of_), context_(other.context_), stamps_(other.stamps_) {
  steal(other);
}

Table& Table::operator=(Table&& other) noexcept {
  if (this != &other) {
    this->~Table();
    hash_of_ = other.hash_of_;
    context_ = other.context_;
    stamps_ = other.stamps_;
    steal(other);
  }
  return *this;
}

void Table::steal(Table& other) {
  directory_ = other.directory_;
  depth_ = other.depth_;
  shift_ = other.shift_;
  size_ = other.size_;
  marked_ = other.marked_;
  memory_bytes_ = other.memory_bytes_;
  deepest_segments_ = other.deepest_segments_;
  stamp_ = stamps_->draw();
  other.reset();
}

void Table::reset() {
  stamp_ = stamps_->draw();
  depth_ = 0;
  shift_ = 63;
  size_ = marked_ = memory_bytes_ = 0;
  deepest_segments_ = 0;
  directory_ = static_cast<uint64_t*>(std::malloc(sizeof(uint64_t)));
  if (directory_ == nullptr) throw std::bad_alloc();
  memory_bytes_ = sizeof(uint64_t);
  point_directory(0, new_segment(0, 0));
}

Table::Segment* Table::new_segment(unsigned step, unsigned depth) {
  const unsigned homes = kSteps[step];
  const size_t bytes = sizeof(Segment) + homes * sizeof(Bucket);
  void* memory = std::aligned_alloc(alignof(Segment), bytes);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, bytes);
  auto* segment = static_cast<Segment*>(memory);
  segment->homes = static_cast<uint16_t>(homes);
  segment->step = step;
  segment->depth = static_cast<uint16_t>(depth);
  segment->earliest_due = kGone;
  memory_bytes_ += bytes;
  if (depth == depth_) deepest_segments_++;
  return segment;
}

void Table::free_segment(Segment* segment) {
  memory_bytes_ -= sizeof(Segment) + segment->homes * sizeof(Bucket);
  if (segment->depth == depth_) deepest_segments_--;
  std::free(segment);
}

// Stores a prepared slot (hash bits, pointer, mark) in the first bucket with a free slot, from its
// home on. Precondition: there is one.
uint64_t* Table::place(Segment* segment, uint64_t slot_bits) {
  Bucket* buckets = buckets_of(segment);
  const unsigned homes = segment->homes;
  unsigned at = home_of(*segment, slot_bits);
  for (;;) {
    for (uint64_t& slot : buckets[at].slots) {
      if (is_entry(slot)) continue;
      slot |= slot_bits;
      segment->count++;
      if ((slot_bits & kMark) != 0) segment->marked++;
      return &slot;
    }
    const unsigned tally = tally_of(buckets[at]);
    // A tally at its limit no longer counts: it stays until the segment is rebuilt.
    if (tally < kMostTally) set_tally(buckets[at], tally + 1);
    at = at + 1 == homes ? 0 : at + 1;
  }
}

Table::Segment* Table::build(const SlotList& slots, const Segment& like, unsigned depth) {
  Segment* fresh = new_segment(step_for(slots.size() + 1), depth);
  for (const uint64_t slot : slots) place(fresh, slot);
  fresh->earliest_due = like.earliest_due;
  return fresh;
}

void Table::point_directory(uint64_t hash, Segment* segment) {
  const unsigned depth = segment->depth;
  const uint64_t entry = bits_of(segment) | (uint64_t{segment->homes} << 48);
  const uint64_t first = ((hash >> 1) >> (63 - depth)) << (depth_ - depth);
  std::fill_n(directory_ + first, size_t{1} << (depth_ - depth), entry);
}

Table::Position Table::insert(uint64_t hash, void* entry) {
  stamp_ = stamps_->draw();
  Segment* segment = segment_of(directory_entry(hash));
  while (segment->count >= capacity_of(segment->homes)) {
    make_room(hash);
    segment = segment_of(directory_entry(hash));
  }
  size_++;
  return {segment, place(segment, (hash << 48) | bits_of(entry))};
}

// Splitting helps unless the hashes agree in their top bits, which with a keyed hash does not
// happen by chance; a directory with far more places than entries indicates it.
bool Table::may_split(const Segment& segment) const {
  if (segment.step == kLastStep && depth_ == kMaxDepth) throw std::bad_alloc();
  if (segment.step == kLastStep || segment.depth < depth_) return true;
  return depth_ < kMaxDepth && (size_t{1} << depth_) < 64 + size_ / 8;
}

void Table::make_room(uint64_t hash) {
  Segment* segment = segment_of(directory_entry(hash));
  if (segment->step >= kLastUsualStep && may_split(*segment)) {
    split(hash, segment);
    return;
  }
  SlotList slots;
  slots.reserve(segment->count);
  for_each_slot(segment, [&](uint64_t slot) { slots.push_back(slot); });
  point_directory(hash, build(slots, *segment, segment->depth));
  free_segment(segment);
}

void Table::split(uint64_t hash, Segment* segment) {
  if (segment->depth == depth_) double_directory();
  const unsigned depth = segment->depth + 1u;
  SlotList halves[2];
  for (SlotList& half : halves) half.reserve(segment->count);
  // Reading every entry's key is one cache miss each, unless they are prefetched.
  for_each_slot(segment, [](uint64_t slot) { __builtin_prefetch(entry_of(slot)); });
  for_each_slot(segment, [&](uint64_t slot) {
    const uint64_t full = hash_of_(entry_of(slot), context_);
    halves[(full >> (64 - depth)) & 1].push_back(slot);
  });
  const uint64_t bit = uint64_t{1} << (64 - depth);
  point_directory(hash & ~bit, build(halves[0], *segment, depth));
  point_directory(hash | bit, build(halves[1], *segment, depth));
  free_segment(segment);
}

void Table::double_directory() {
  const size_t entries = size_t{1} << depth_;
  auto* wider = static_cast<uint64_t*>(std::malloc(2 * entries * sizeof(uint64_t)));
  if (wider == nullptr) throw std::bad_alloc();
  for (size_t i = 0; i < entries; i++) wider[2 * i] = wider[2 * i + 1] = directory_[i];
  std::free(directory_);
  directory_ = wider;
  memory_bytes_ += entries * sizeof(uint64_t);
  depth_++;
  shift_--;
  deepest_segments_ = 0;
}

void Table::halve_directory_if_possible() {
  while (depth_ > 0 && deepest_segments_ == 0) {
    const size_t entries = size_t{1} << (depth_ - 1);
    for (size_t i = 0; i < entries; i++) directory_[i] = directory_[2 * i];
    if (auto* smaller = std::realloc(directory_, entries * sizeof(uint64_t))) {
      directory_ = static_cast<uint64_t*>(smaller);
    }
    memory_bytes_ -= entries * sizeof(uint64_t);
    depth_--;
    shift_++;
    for (size_t i = 0; i < entries; i++) {
      const Segment* segment = segment_of(directory_[i]);
      // A shallower segment fills several directory places; it is counted at its first.
      if (segment->depth == depth_) deepest_segments_++;
    }
  }
}

// The entry in that slot is being removed: the buckets that it passed count one less.
void Table::forget_passing(Segment* segment, const uint64_t* slot) {
  Bucket* buckets = buckets_of(segment);
  const auto here = static_cast<unsigned>(slot - buckets->slots) / kSlots;
  for (unsigned at = home_of(*segment, *slot); at != here;
       at = at + 1u == segment->homes ? 0 : at + 1) {
    const unsigned tally = tally_of(buckets[at]);
    if (tally < kMostTally) set_tally(buckets[at], tally - 1);
  }
}

void Table::erase(Position at) {
  stamp_ = stamps_->draw();
  Segment* segment = at.segment;
  const bool sparse = segment->count <= segment->homes * 2u && (segment->homes > 1 || depth_ > 0);
  const uint64_t hash = sparse ? hash_of_(at.entry(), context_) : 0;
  if ((*at.slot & kMark) != 0) {
    segment->marked--;
    marked_--;
  }
  forget_passing(segment, at.slot);
  *at.slot &= kTally;
  segment->count--;
  size_--;
  if (sparse) shrink(hash, segment);
}

void Table::shrink(uint64_t hash, Segment* segment) {
  // A merged segment is far from splitting again, so a table of oscillating size does not thrash.
  constexpr unsigned kMergeBelow = 150;
  SlotList slots;
  const auto collect = [&](uint64_t slot) { slots.push_back(slot); };
  if (segment->depth > 0) {
    const uint64_t bit = uint64_t{1} << (64 - segment->depth);
    Segment* buddy = segment_of(directory_entry(hash ^ bit));
    if (buddy->depth == segment->depth && buddy->count + segment->count < kMergeBelow) {
      for_each_slot(segment, collect);
      for_each_slot(buddy, collect);
      segment->earliest_due = std::min(segment->earliest_due, buddy->earliest_due);
      point_directory(hash, build(slots, *segment, segment->depth - 1u));
      free_segment(segment);
      free_segment(buddy);
      halve_directory_if_possible();
      return;
    }
  }
  if (step_for(segment->count + 1) >= segment->step) return;
  for_each_slot(segment, collect);
  point_directory(hash, build(slots, *segment, segment->depth));
  free_segment(segment);
}

void Table::free_all() {
  for (size_t i = 0; i < size_t{1} << depth_;) {
    Segment* segment = segment_of(directory_[i]);
    i += size_t{1} << (depth_ - segment->depth);
    std::free(segment);
  }
  std::free(directory_);
}

void Table::move_entry(const void* from, void* to) {
  const Position at =
      find(hash_of_(to, context_), [from](const void* entry) { return entry == from; });
  replace(at, to);
}

void Table::clear() {
  free_all();
  reset();
}

void Table::reserve(size_t count) {
  // Fewer entries are quickly added; a higher average per segment would make many of them split
  // after all.
  constexpr size_t kWorthIt = 1024;
  constexpr size_t kMostPerSegment = 350;
  if (size_ != 0 || count < kWorthIt) return;
  unsigned depth = 0;
  while (depth < kMaxDepth && (count >> depth) > kMostPerSegment) depth++;
  const size_t average = count >> depth;
  // Some segments get more than the average: a standard deviation is its root, at most 19.
  constexpr size_t kDeviations = 30;
  unsigned step = 0;
  while (step < kLastUsualStep && capacity_of(kSteps[step]) < average + kDeviations) step++;

  clear();
  while (depth_ < depth) double_directory();
  free_segment(segment_of(directory_[0]));
  for (uint64_t prefix = 0; prefix >> depth == 0; prefix++) {
    point_directory(depth == 0 ? 0 : prefix << (64 - depth), new_segment(step, depth));
  }
}

void Table::release_spare() {
  stamp_ = stamps_->draw();
  for (uint64_t hash = 0;;) {
    Segment* segment = segment_of(directory_entry(hash));
    const unsigned depth = segment->depth;
    const unsigned homes = segment->homes;
    shrink(hash, segment);
    segment = segment_of(directory_entry(hash));
    // A merged segment may be merged again.
    if (segment->depth != depth || segment->homes != homes) continue;
    if (depth == 0) return;
    const uint64_t width = uint64_t{1} << (64 - depth);
    hash = (hash & ~(width - 1)) + width;
    if (hash == 0) return;
  }
}

void Table::mark(Position at, int64_t due) {
  if ((*at.slot & kMark) == 0) {
    *at.slot |= kMark;
    at.segment->marked++;
    marked_++;
  }
  at.segment->earliest_due = std::min(at.segment->earliest_due, due);
}

void Table::unmark(Position at) {
  if ((*at.slot & kMark) == 0) return;
  *at.slot &= ~kMark;
  at.segment->marked--;
  marked_--;
}

uint64_t Table::scan(uint64_t cursor, const std::function<void(void*)>& visit) const {
  const uint64_t prefix = (cursor >> 16) & ((uint64_t{1} << kPrefixBits) - 1);
  const unsigned cursor_depth = (cursor >> 11) & 31;
  const unsigned cursor_step = std::min<unsigned>((cursor >> 6) & 31, kLastStep);
  const unsigned cursor_place = cursor & 63;
  Segment* segment = segment_of(directory_entry(prefix << (64 - kPrefixBits)));
  const unsigned places = places_of(segment->homes);
  unsigned place = 0;
  // Merged since: entries of the other half before this place have not been visited, so start over.
  if (segment->depth >= cursor_depth) {
    place = std::min(cursor_place * places / places_of(kSteps[cursor_step]), places - 1);
  }
  const auto show = [&](uint64_t slot) { visit(entry_of(slot)); };
  if (segment->homes == places) {
    for_each_slot_of_home(segment, place, show);
  } else {
    for_each_slot(segment, [&](uint64_t slot) {
      if (((slot >> 48) * places) >> 16 == place) show(slot);
    });
  }
  const uint64_t width = uint64_t{1} << (kPrefixBits - segment->depth);
  const uint64_t start = prefix & ~(width - 1);
  if (place + 1 < places) {
    return (start << 16) | (uint64_t{segment->depth} << 11) | (uint64_t{segment->step} << 6) |
           (place + 1);
  }
  const uint64_t next = start + width;
  return next >> kPrefixBits ? 0 : next << 16;
}

void* Table::random_entry(Random& random) const {
  constexpr unsigned kUsualLines = kSteps[kLastUsualStep];
  for (;;) {
    const uint64_t index = random.below(uint64_t{1} << depth_);
    Segment* segment = segment_of(directory_[index]);
    // A shallow segment occupies several directory places; it is accepted at its first only, so
    // that all segments have the same chance, and then every slot of the largest shape.
    if ((index & ((uint64_t{1} << (depth_ - segment->depth)) - 1)) != 0) continue;
    const unsigned lines = segment->homes;
    const uint64_t line = random.below(depth_ == 0 ? lines : std::max(kUsualLines, lines));
    if (line >= lines) continue;
    const uint64_t slot = buckets_of(segment)[line].slots[random.below(kSlots)];
    if (is_entry(slot)) return entry_of(slot);
  }
}

void Table::sample_segment(Segment* segment, uint64_t from_slot, size_t wanted, uint64_t bits,
                           std::vector<void*>& found) {
  const uint64_t* slots = buckets_of(segment)->slots;  // buckets are contiguous
  const uint64_t count = uint64_t{segment->homes} * kSlots;
  for (uint64_t seen = 0; seen < count && found.size() < wanted; seen++) {
    const uint64_t at = from_slot + seen;
    const uint64_t slot = slots[at < count ? at : at - count];
    if (!is_entry(slot) || (slot & bits) != bits) continue;
    __builtin_prefetch(entry_of(slot));
    found.push_back(entry_of(slot));
  }
}

void Table::sample(Random& random, size_t count, Which which, std::vector<void*>& found) const {
  const bool marked = which == Which::kMarked;
  const uint64_t bits = marked ? kMark : 0;
  const size_t wanted = found.size() + std::min(count, marked ? marked_ : size_);
  const uint64_t end = uint64_t{1} << depth_;
  uint64_t index = random.below(end);
  Segment* segment = segment_of(directory_[index]);
  // Any slot, not the first of a bucket: those at its end would rarely be sampled.
  uint64_t from_slot = random.below(uint64_t{segment->homes} * kSlots);
  while (found.size() < wanted) {
    // A segment without matching entries is skipped by reading its header only.
    if ((marked ? segment->marked : segment->count) != 0) {
      sample_segment(segment, from_slot, wanted, bits, found);
    }
    from_slot = 0;
    // A shallow segment occupies several directory places, from a multiple of their number on.
    const uint64_t width = uint64_t{1} << (depth_ - segment->depth);
    index = (index & ~(width - 1)) + width;
    if (index == end) index = 0;
    segment = segment_of(directory_[index]);
  }
}

void Table::for_each(const std::function<void(void*)>& visit) const {
  for (size_t i = 0; i < size_t{1} << depth_;) {
    Segment* segment = segment_of(directory_[i]);
    i += size_t{1} << (depth_ - segment->depth);
    for_each_slot(segment, [&](uint64_t slot) { visit(entry_of(slot)); });
  }
}

Table::Segment* Table::next_segment(uint64_t& position) const {
  const uint64_t prefix = position & ((uint64_t{1} << kPrefixBits) - 1);
  Segment* segment = segment_of(directory_entry(prefix << (64 - kPrefixBits)));
  const uint64_t width = uint64_t{1} << (kPrefixBits - segment->depth);
  const uint64_t next = (prefix & ~(width - 1)) + width;
  position = next >> kPrefixBits ? 0 : next;
  return segment;
}

void Table::visit_segment(uint64_t& position, const std::function<void(void*)>& visit) const {
  // Most entries span two cache lines.
  constexpr size_t kAhead = 16;
  constexpr size_t kLine = 64;
  std::array<void*, kAhead> ahead{};
  size_t at = 0;
  for_each_slot(next_segment(position), [&](uint64_t slot) {
    void* entry = entry_of(slot);
    __builtin_prefetch(entry);
    __builtin_prefetch(static_cast<char*>(entry) + kLine);
    std::swap(ahead[at], entry);
    at = (at + 1) % kAhead;
    if (entry != nullptr) visit(entry);
  });
  for (size_t i = 0; i < kAhead; i++) {
    if (void* entry = ahead[(at + i) % kAhead]) visit(entry);
  }
}

size_t Table::sweep_segment(uint64_t& position, int64_t now,
                            const std::function<int64_t(void*)>& visit) {
  Segment* segment = next_segment(position);
  if (segment->marked == 0 || segment->earliest_due > now) return 0;
  int64_t earliest = kGone;
  size_t visited = 0;
  for_each_slot(segment, [&](uint64_t slot) {
    if ((slot & kMark) == 0) return;
    visited++;
    earliest = std::min(earliest, visit(entry_of(slot)));
  });
  segment->earliest_due = earliest;
  return visited;
}

int64_t Table::earliest_due() const {
  int64_t earliest = kGone;
  for (uint64_t prefix = 0; prefix >> kPrefixBits == 0;) {
    const Segment* segment = segment_of(directory_entry(prefix << (64 - kPrefixBits)));
    if (segment->marked > 0) earliest = std::min(earliest, segment->earliest_due);
    prefix += uint64_t{1} << (kPrefixBits - segment->depth);
  }
  return earliest;
}

}  // namespace sorrel
