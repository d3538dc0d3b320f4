#include "server/digest.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/numbers.h"
#include "types/bloom.h"
#include "types/hash.h"
#include "types/list.h"
#include "types/set.h"
#include "types/stream.h"
#include "types/string.h"
#include "types/type_names.h"
#include "types/zset.h"

namespace sorrel::server {
namespace {

// Any constants do; they only have to differ.
constexpr uint64_t kFirstSeed = 0x5f0e3c9a7b21d864ull;
constexpr uint64_t kSecondSeed = 0x91c4d2e8a6370bf5ull;

uint64_t hash(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

Digest string_digest(const Record& record) {
  IntegerText scratch;
  return Digest::of("string", string_bytes(record, scratch));
}

// In order, whatever the encoding.
Digest list_digest(const Record& record) {
  const Collection value = collection_of(record);
  const ListReader list(value);
  Digest digest = Digest::of("list", "");
  for (ListCursor at = list.first(); at; at = list.next(at)) {
    IntegerText scratch;
    digest = Digest::of_pair(digest, Digest::of("element", list.get(at).text(scratch)));
  }
  return digest;
}

// Members have no order, and each is there once.
Digest set_digest(const Record& record) {
  Digest digest = Digest::of("type", type_name(record.type()));
  Set(collection_of(record)).for_each([&](const SetMember& member) {
    IntegerText scratch;
    digest.mix(Digest::of("member", member.text(scratch)));
  });
  return digest;
}

Digest hash_digest(const Record& record) {
  Digest digest = Digest::of("type", type_name(record.type()));
  Hash(collection_of(record)).for_each([&](const HashItem& item) {
    IntegerText field;
    IntegerText value;
    digest.mix(Digest::of_pair(Digest::of("field", item.field.text(field)),
                               Digest::of("value", item.value.text(value))));
    // That there is a deadline, not which: as with keys.
    if (item.expiry != kNoExpiry) {
      digest.mix(Digest::of("expiring field", item.field.text(field)));
    }
  });
  return digest;
}

// The order follows from the scores. A listpack knows no -0, so it counts as 0 here.
Digest zset_digest(const Record& record) {
  Digest digest = Digest::of("type", type_name(record.type()));
  ZsetView(collection_of(record)).for_each([&](std::string_view member, double score) {
    digest.mix(Digest::of_pair(Digest::of("member", member),
                               Digest::of("score", format_double(score + 0.0))));
  });
  return digest;
}

// The entries with their ids, in order, whatever nodes they stand in.
Digest stream_digest(const Record& record) {
  Digest digest = Digest::of("type", type_name(record.type()));
  StreamWalk walk(stream_of(record), kMinStreamId, kMaxStreamId);
  StreamEntry entry;
  while (walk.next(entry)) {
    digest = Digest::of_pair(digest, Digest::of("id", entry.id.text()));
    stream_node::Fields fields(entry);
    listpack::Element name;
    listpack::Element value;
    while (fields.next(name, value)) {
      IntegerText scratch;
      digest = Digest::of_pair(digest, Digest::of("field", name.text(scratch)));
      digest = Digest::of_pair(digest, Digest::of("value", value.text(scratch)));
    }
  }
  return digest;
}

Digest bloom_digest(const Record& record) {
  const BloomFilter& filter = bloom_of(record);
  Digest digest = Digest::of("bloom", filter.header());
  for (const BloomFilter::Layer& layer : filter.layers()) {
    digest = Digest::of_pair(digest, Digest::of("bits", layer.view()));
  }
  return digest;
}

}  // namespace

Digest Digest::of(std::string_view kind, std::string_view bytes) {
  const uint64_t seed = hash(kind, kFirstSeed);
  const XXH128_hash_t wide = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  Digest digest;
  digest.words_ = {wide.high64, wide.low64, hash(bytes, seed ^ kSecondSeed) >> 32};
  return digest;
}

Digest Digest::of_pair(const Digest& first, const Digest& second) {
  return of("pair", first.text() + second.text());
}

void Digest::mix(const Digest& other) {
  for (size_t i = 0; i < words_.size(); i++) words_[i] ^= other.words_[i];
}

std::string Digest::text() const {
  return fmt::format("{:016x}{:016x}{:08x}", words_[0], words_[1], words_[2]);
}

Digest value_digest(const Record& record) {
  Digest digest;
  switch (record.type()) {
    case Type::kString:
      digest = string_digest(record);
      break;
    case Type::kList:
      digest = list_digest(record);
      break;
    case Type::kSet:
      digest = set_digest(record);
      break;
    case Type::kHash:
      digest = hash_digest(record);
      break;
    case Type::kZset:
      digest = zset_digest(record);
      break;
    case Type::kStream:
      digest = stream_digest(record);
      break;
    case Type::kBloom:
      digest = bloom_digest(record);
      break;
  }
  if (record.has_expiry()) digest.mix(Digest::of("expires", ""));
  return digest;
}

Digest dataset_digest(const Keyspace& keyspace) {
  Digest all;
  for (unsigned p = 0; p < keyspace.partition_count(); p++) {
    for (int db = 0; db < keyspace.database_count(); db++) {
      const Database* database = keyspace.find_database(p, db);
      if (database == nullptr) continue;
      database->table.for_each([&](void* entry) {
        const auto& record = *static_cast<const Record*>(entry);
        const Digest key = Digest::of(fmt::format("key {}", db), record.key());
        Digest value = value_digest(record);
        if (record.has_expiry()) value.mix(Digest::of("deadline", to_text(record.expiry())));
        all.mix(Digest::of_pair(key, value));
      });
    }
  }
  return all;
}

}  // namespace sorrel::server
