#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "commands/collection_parts.h"
#include "commands/expiry_option.h"
#include "dispatch/call.h"
#include "types/hash.h"

namespace sorrel::commands {

// Shared by the files of the hash family.

inline constexpr Event kHsetEvent{EventClass::kHash, "hset"};
inline constexpr Event kHdelEvent{EventClass::kHash, "hdel"};
inline constexpr Event kHexpireEvent{EventClass::kHash, "hexpire"};
inline constexpr Event kHpersistEvent{EventClass::kHash, "hpersist"};

inline HashLimits hash_limits(const Call& call) {
  return call.keys.keyspace().hash_limits();
}

// The hash without expired fields.
inline Hash hash_of(const Call& call, const Record& record) {
  return Hash(collection_of(record), call.now_ms());
}

// For reads, after the reply: deletes those of the requested fields that have expired.
inline void expire_asked(Call& call, const Hash& hash, std::span<const std::string_view> fields) {
  if (hash.has_due()) [[unlikely]]
    call.keys.expire_fields(call.key(1), fields);
}

// The fields after FIELDS and their number; `at` is the position of FIELDS. nullopt: an error has
// been answered, with a text of the command's own when the number is invalid.
std::optional<std::span<const std::string_view>> parse_numbered_fields(
    Call& call, size_t at,
    std::string_view bad_number = "ERR Number of fields must be a positive integer");

// The expire time of a field in absolute milliseconds; nullopt: invalid, and the error has been
// answered.
std::optional<int64_t> parse_field_deadline(Call& call, const ExpiryClause& clause);

// `over`: the expire time has passed, so the field is deleted.
inline void apply_deadline(HashEdit& hash, std::string_view field, int64_t at_ms, bool over) {
  if (over) {
    hash.remove(field);
  } else {
    hash.set_expiry(field, at_ms);
  }
}

// Collects the fields that a command has changed, for the effect and the event.
class TouchedFields {
 public:
  explicit TouchedFields(Call& call) : call_(call) {}

  void add(std::string_view field) {
    count_++;
    if (call_.wants_effect()) fields_.emplace_back(field);
  }
  int64_t count() const { return count_; }
  // Propagates `head`, FIELDS, their number and the fields.
  void rewrite_as(std::vector<std::string> head) const;
  // Propagates an HDEL for each field, as one atomic group.
  void rewrite_as_deletions() const;
  // Reports the fields as expired: their expire time lay in the past.
  void report_expired(Entry& entry) const {
    entry.count_expired_fields(static_cast<uint64_t>(count_));
    entry.changed(kHdelEvent);
    rewrite_as_deletions();
  }

 private:
  Call& call_;
  int64_t count_ = 0;
  std::vector<std::string> fields_;
};

}  // namespace sorrel::commands
