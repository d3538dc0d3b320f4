#include "types/collection.h"

#include <cstdlib>

namespace sorrel {

const CollectionOps& collection_ops(Type type) {
  switch (type) {
    case Type::kString:
    case Type::kList:
    case Type::kSet:
    case Type::kZset:
    case Type::kHash:
    case Type::kStream:
      break;
  }
  // Nobody can make a record of another type.
  std::abort();
}

}  // namespace sorrel
