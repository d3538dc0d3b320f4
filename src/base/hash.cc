#include "base/hash.h"

#include "base/bytes.h"
#include "base/random.h"

namespace sorrel {

KeyHasher::KeyHasher(uint64_t seed_a, uint64_t seed_b) {
  static_assert(sizeof secret_ % 8 == 0, "the secret is filled by whole words");
  Random first(seed_a);
  Random second(seed_b);
  for (size_t i = 0; i < secret_.size(); i += 8) store(&secret_[i], first.next() ^ second.next());
}

}  // namespace sorrel
