#include "resp/arg_list.h"

#include <algorithm>

namespace sorrel::resp {

void ArgList::grow(size_t count) {
  const size_t wanted = std::max(capacity_ * 2, std::max<size_t>(size_ + count, 256));
  auto larger = std::make_unique_for_overwrite<std::string_view[]>(wanted);
  std::copy(begin(), end(), larger.get());
  data_ = std::move(larger);
  capacity_ = wanted;
}

}  // namespace sorrel::resp
