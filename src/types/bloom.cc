#include "types/bloom.h"

#include <new>

namespace sorrel {
namespace {

Collection own(std::unique_ptr<BloomFilter> filter) {
  if (filter == nullptr) throw std::bad_alloc();
  return bloom_collection(std::move(filter));
}

}  // namespace

Collection bloom_collection(std::unique_ptr<BloomFilter> filter) {
  return {Encoding::kBloom, filter.release()};
}

const CollectionOps& bloom_ops() {
  static constexpr CollectionOps kOps = {
      .make =
          [] {
            BloomFilter::Failure failure;
            return own(BloomFilter::make({}, failure));
          },
      // A filter without items was reserved by its client, and the key stays.
      .size = [](const Collection&) -> size_t { return 1; },
      .memory =
          [](const Collection& value) {
            return static_cast<const BloomFilter*>(value.data)->memory_bytes();
          },
      .free = [](Collection value) { delete static_cast<BloomFilter*>(value.data); },
      .clone =
          [](const Collection& value) {
            return own(static_cast<const BloomFilter*>(value.data)->clone());
          },
  };
  return kOps;
}

}  // namespace sorrel
