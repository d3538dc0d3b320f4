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

// Home buckets a segment may have. Steps of a seventh to a fifth keep the fill even; 64 homes is
// where a segment splits.
constexpr std::array<uint16_t, 20> kSteps = {1,  2,  3,  4,  6,  8,  10, 12, 14, 16,
                                             20, 24, 28, 32, 36, 40, 46, 52, 58, 64};
constexpr unsigned kLastStep = kSteps.size() - 1;

// Cursor: prefix of 27 bits | depth of 5 | step of 5 | home of 6.
constexpr unsigned kPrefixBits = 27;
constexpr unsigned kMaxDepth = kPrefixBits;
static_assert(kSteps.size() <= 32, "a step index takes five bits of a cursor");
static_assert(kMaxDepth < 32, "a depth takes five bits of a cursor");
static_assert(kSteps[kLastStep] <= 64, "a home index takes six bits of a cursor");

constexpr unsigned spares_for(unsigned homes) {
  return std::max(1u, (homes + 3) / 4);
}

// The smallest step that holds `count` entries at 5.75 per home: about one bucket in eight then
// overflows, half of what the spares can take.
unsigned step_for(size_t count) {
  unsigned step = 0;
  while (step < kLastStep && count * 4 > kSteps[step] * size_t{23}) step++;
  return step;
}

}  // namespace

template <class Visit>
void Table::for_each_slot_of_home(Segment* segment, unsigned home, Visit&& visit) {
  Bucket* bucket = buckets_of(segment) + home;
  for (;;) {
    for (uint64_t& slot : bucket->slots) {
      if (is_entry(slot)) visit(slot);
    }
    const uint64_t last = bucket->slots[kSlots - 1];
    if ((last & kLink) == 0) return;
    bucket = buckets_of(segment) + (last >> 3);
  }
}

template <class Visit>
void Table::for_each_slot(Segment* segment, Visit&& visit) {
  Bucket* buckets = buckets_of(segment);
  const unsigned lines = segment->homes + segment->spares_used;
  for (unsigned i = 0; i < lines; i++) {
    for (uint64_t& slot : buckets[i].slots) {
      if (is_entry(slot)) visit(slot);
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
  point_directory(0, new_segment(0, spares_for(1), 0));
}

Table::Segment* Table::new_segment(unsigned step, unsigned spares, unsigned depth) {
  const unsigned homes = kSteps[step];
  const size_t bytes = sizeof(Segment) + (homes + spares) * sizeof(Bucket);
  void* memory = std::aligned_alloc(alignof(Segment), bytes);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, bytes);
  auto* segment = static_cast<Segment*>(memory);
  segment->homes = static_cast<uint16_t>(homes);
  segment->spares = static_cast<uint16_t>(spares);
  segment->step = step;
  segment->depth = static_cast<uint16_t>(depth);
  segment->earliest_due = kGone;
  memory_bytes_ += bytes;
  if (depth == depth_) deepest_segments_++;
  return segment;
}

void Table::free_segment(Segment* segment) {
  memory_bytes_ -= sizeof(Segment) + (segment->homes + segment->spares) * sizeof(Bucket);
  if (segment->depth == depth_) deepest_segments_--;
  std::free(segment);
}

// Puts a ready slot (hash bits, pointer, mark) into its home or the home's chain. Null when that
// takes a spare bucket and none is left.
uint64_t* Table::place(Segment* segment, uint64_t slot_bits) {
  Bucket* bucket = buckets_of(segment) + (((slot_bits >> 48) * segment->homes) >> 16);
  for (;;) {
    for (uint64_t& slot : bucket->slots) {
      if (slot == 0) {
        slot = slot_bits;
        segment->count++;
        if ((slot_bits & kMark) != 0) segment->marked++;
        return &slot;
      }
    }
    uint64_t& last = bucket->slots[kSlots - 1];
    if ((last & kLink) == 0) {
      if (segment->spares_used == segment->spares) return nullptr;
      const uint64_t line = segment->homes + segment->spares_used++;
      buckets_of(segment)[line].slots[0] = last;
      last = (line << 3) | kLink;
    }
    bucket = buckets_of(segment) + (last >> 3);
  }
}

bool Table::place_all(Segment* segment, const SlotList& slots) {
  for (uint64_t slot : slots) {
    if (place(segment, slot) == nullptr) return false;
  }
  return true;
}

// A segment that holds `slots` and has spares left for more. It takes larger steps until they fit;
// past the last step it gives up with nullptr, or takes more spares when it `must` succeed.
Table::Segment* Table::build(const SlotList& slots, unsigned min_step, const Segment& like,
                             unsigned depth, bool must) {
  unsigned step = std::max(min_step, step_for(slots.size()));
  unsigned spares = spares_for(kSteps[step]);
  for (;;) {
    Segment* fresh = new_segment(step, spares, depth);
    if (place_all(fresh, slots)) {
      const unsigned left = fresh->spares - fresh->spares_used;
      if (left * 4 >= spares) {
        fresh->earliest_due = like.earliest_due;
        return fresh;
      }
    }
    free_segment(fresh);
    if (step < kLastStep) {
      spares = spares_for(kSteps[++step]);
    } else if (must) {
      spares *= 2;
    } else {
      return nullptr;
    }
  }
}

void Table::point_directory(uint64_t hash, Segment* segment) {
  const unsigned depth = segment->depth;
  const uint64_t entry = bits_of(segment) | (uint64_t{segment->homes} << 48);
  const uint64_t first = ((hash >> 1) >> (63 - depth)) << (depth_ - depth);
  std::fill_n(directory_ + first, size_t{1} << (depth_ - depth), entry);
}

Table::Position Table::insert(uint64_t hash, void* entry) {
  stamp_ = stamps_->draw();
  const uint64_t slot_bits = (hash << 48) | bits_of(entry);
  for (;;) {
    Segment* segment = segment_of(directory_entry(hash));
    if (uint64_t* slot = place(segment, slot_bits)) {
      size_++;
      return {segment, slot};
    }
    make_room(hash);
  }
}

// Splitting helps unless the hashes agree in their top bits, which a keyed hash makes no accident;
// a directory with far more places than entries is the sign of it.
bool Table::may_split(const Segment& segment) const {
  if (segment.depth < depth_) return true;
  return depth_ < kMaxDepth && (size_t{1} << depth_) < 64 + size_ / 8;
}

void Table::make_room(uint64_t hash) {
  Segment* segment = segment_of(directory_entry(hash));
  SlotList slots;
  slots.reserve(segment->count);
  for_each_slot(segment, [&](uint64_t slot) { slots.push_back(slot); });
  // By count alone, so a segment whose spares went to old chains may even come out smaller. A fresh
  // one always has spares left, so this makes progress.
  const unsigned step = step_for(slots.size() + 1);
  Segment* fresh = build(slots, step, *segment, segment->depth, !may_split(*segment));
  if (fresh == nullptr) {
    split(hash, segment);
    return;
  }
  point_directory(hash, fresh);
  free_segment(segment);
}

void Table::split(uint64_t hash, Segment* segment) {
  if (segment->depth == depth_) double_directory();
  const unsigned depth = segment->depth + 1u;
  SlotList halves[2];
  for (SlotList& half : halves) half.reserve(segment->count);
  // Reading every entry's key is one cache miss each, unless they are asked for ahead.
  for_each_slot(segment, [](uint64_t slot) { __builtin_prefetch(entry_of(slot)); });
  for_each_slot(segment, [&](uint64_t slot) {
    const uint64_t full = hash_of_(entry_of(slot), context_);
    halves[(full >> (64 - depth)) & 1].push_back(slot);
  });
  const uint64_t bit = uint64_t{1} << (64 - depth);
  point_directory(hash & ~bit, build(halves[0], 0, *segment, depth, true));
  point_directory(hash | bit, build(halves[1], 0, *segment, depth, true));
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
      // A shallower segment fills several entries; count it at its first.
      if (segment->depth == depth_) deepest_segments_++;
    }
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
  *at.slot = 0;
  segment->count--;
  size_--;
  if (sparse) shrink(hash, segment);
}

void Table::shrink(uint64_t hash, Segment* segment) {
  // A merged segment is far from splitting again, so a table that breathes does not flap.
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
      point_directory(hash, build(slots, 0, *segment, segment->depth - 1u, true));
      free_segment(segment);
      free_segment(buddy);
      halve_directory_if_possible();
      return;
    }
  }
  if (step_for(segment->count) >= segment->step) return;
  for_each_slot(segment, collect);
  Segment* fresh = build(slots, 0, *segment, segment->depth, true);
  if (fresh->step >= segment->step) {
    free_segment(fresh);
    return;
  }
  point_directory(hash, fresh);
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

void Table::clear() {
  free_all();
  reset();
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
  const unsigned cursor_home = cursor & 63;
  Segment* segment = segment_of(directory_entry(prefix << (64 - kPrefixBits)));
  unsigned home = 0;
  // Merged since: what lay in the other half before this home has not been seen, so start anew.
  if (segment->depth >= cursor_depth) {
    home =
        std::min<unsigned>(cursor_home * segment->homes / kSteps[cursor_step], segment->homes - 1u);
  }
  for_each_slot_of_home(segment, home, [&](uint64_t slot) { visit(entry_of(slot)); });
  const uint64_t width = uint64_t{1} << (kPrefixBits - segment->depth);
  const uint64_t start = prefix & ~(width - 1);
  if (home + 1u < segment->homes) {
    return (start << 16) | (uint64_t{segment->depth} << 11) | (uint64_t{segment->step} << 6) |
           (home + 1u);
  }
  const uint64_t next = start + width;
  return next >> kPrefixBits ? 0 : next << 16;
}

void* Table::random_entry(Random& random) const {
  constexpr unsigned kMostLines = 64 + spares_for(64);
  for (;;) {
    const uint64_t index = random.below(uint64_t{1} << depth_);
    Segment* segment = segment_of(directory_[index]);
    // A shallow segment stands several times in the directory; take it at its first place only, so
    // that every segment is as likely as any other, and then every slot of the largest shape.
    if ((index & ((uint64_t{1} << (depth_ - segment->depth)) - 1)) != 0) continue;
    const unsigned lines = segment->homes + segment->spares_used;
    const uint64_t line = random.below(depth_ == 0 ? lines : std::max(kMostLines, lines));
    if (line >= lines) continue;
    const uint64_t slot = buckets_of(segment)[line].slots[random.below(kSlots)];
    if (is_entry(slot)) return entry_of(slot);
  }
}

void Table::for_each(const std::function<void(void*)>& visit) const {
  for (size_t i = 0; i < size_t{1} << depth_;) {
    Segment* segment = segment_of(directory_[i]);
    i += size_t{1} << (depth_ - segment->depth);
    for_each_slot(segment, [&](uint64_t slot) { visit(entry_of(slot)); });
  }
}

size_t Table::sweep_segment(uint64_t& position, int64_t now,
                            const std::function<int64_t(void*)>& visit) {
  const uint64_t prefix = position & ((uint64_t{1} << kPrefixBits) - 1);
  Segment* segment = segment_of(directory_entry(prefix << (64 - kPrefixBits)));
  const uint64_t width = uint64_t{1} << (kPrefixBits - segment->depth);
  const uint64_t next = (prefix & ~(width - 1)) + width;
  position = next >> kPrefixBits ? 0 : next;
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

}  // namespace sorrel
