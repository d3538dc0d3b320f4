#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "keyspace/keyspace.h"

namespace sorrel::server {

// A 160-bit fingerprint of data. Parts that have no order among each other are combined by mix(),
// which does not care about theirs; so two servers with the same keys have the same digest, however
// they came to them.
class Digest {
 public:
  Digest() = default;
  // Of these bytes; `kind` keeps equal bytes in different roles apart.
  static Digest of(std::string_view kind, std::string_view bytes);
  // Of a pair whose order matters.
  static Digest of_pair(const Digest& first, const Digest& second);

  // Precondition of a meaningful result: no part is mixed in twice.
  void mix(const Digest& other);
  std::string text() const;  // 40 hexadecimal digits

  bool operator==(const Digest&) const = default;

 private:
  std::array<uint64_t, 3> words_{};  // the last holds 32 bits
};

// Of the type and the value, and of whether it has a deadline.
Digest value_digest(const Record& record);

// Of every key with its database, value and deadline; all zeros when there is none. Keys whose time
// has come and that are still there count too. Under the gate.
Digest dataset_digest(const Keyspace& keyspace);

}  // namespace sorrel::server
