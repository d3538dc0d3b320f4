#include "types/collection.h"

#include <cstdlib>

#include "types/bloom.h"
#include "types/hash.h"
#include "types/list.h"
#include "types/set.h"
#include "types/stream.h"
#include "types/zset.h"

namespace sorrel {

const CollectionOps& collection_ops(Type type) {
  switch (type) {
    case Type::kList:
      return list_ops();
    case Type::kHash:
      return hash_ops();
    case Type::kSet:
      return set_ops();
    case Type::kZset:
      return zset_ops();
    case Type::kStream:
      return stream_ops();
    case Type::kBloom:
      return bloom_ops();
    case Type::kString:
      break;
  }
  // No function makes a record of another type.
  std::abort();
}

}  // namespace sorrel
