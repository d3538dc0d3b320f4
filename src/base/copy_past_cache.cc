#include "base/copy_past_cache.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace sorrel {
namespace {

void copy(char* to, const char* from, size_t size) {
  if (size > 0) std::memcpy(to, from, size);
}

}  // namespace

void copy_past_cache(char* to, std::string_view bytes) {
  const char* from = bytes.data();
  size_t left = bytes.size();
#if defined(__x86_64__)
  // Whole lines only: a part of one would have to be fetched.
  constexpr size_t kLine = 64;
  const size_t head =
      std::min((kLine - reinterpret_cast<uintptr_t>(to) % kLine) % kLine, bytes.size());
  copy(to, from, head);
  to += head;
  from += head;
  for (left -= head; left >= kLine; left -= kLine, from += kLine, to += kLine) {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    const __m128i first = _mm_loadu_si128(source);
    const __m128i second = _mm_loadu_si128(source + 1);
    const __m128i third = _mm_loadu_si128(source + 2);
    const __m128i fourth = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, first);
    _mm_stream_si128(target + 1, second);
    _mm_stream_si128(target + 2, third);
    _mm_stream_si128(target + 3, fourth);
  }
  // Such stores keep no order: without this, who is told of the copy might not find all of it.
  _mm_sfence();
#endif
  copy(to, from, left);
}

}  // namespace sorrel
