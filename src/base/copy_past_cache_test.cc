#include "base/copy_past_cache.h"

#include <gtest/gtest.h>

#include <string>

namespace sorrel {
namespace {

TEST(CopyPastCacheTest, CopiesJustThatFromAnyPlaceToAnyPlace) {
  std::string source(600, ' ');
  for (size_t i = 0; i < source.size(); i++) source[i] = static_cast<char>(i * 31 + 1);
  for (size_t to = 0; to < 80; to += 3) {
    for (size_t from = 0; from < 20; from += 7) {
      for (const size_t size : {0, 1, 15, 63, 64, 65, 127, 128, 200, 500}) {
        std::string target(700, '.');
        std::string wanted = target;
        wanted.replace(to, size, source, from, size);
        copy_past_cache(target.data() + to, std::string_view(source).substr(from, size));
        ASSERT_EQ(target, wanted) << to << " " << from << " " << size;
      }
    }
  }
}

}  // namespace
}  // namespace sorrel
