#include "structs/lzf.h"

#include <liblzf/lzf.h>

#include <algorithm>
#include <limits>

namespace sorrel::lzf {

bool compress(std::string_view bytes, size_t most, std::string& out) {
  constexpr size_t kMostBytes = std::numeric_limits<unsigned>::max();
  if (bytes.size() > kMostBytes || most == 0) return false;
  const size_t before = out.size();
  out.resize(before + most);
  const unsigned size = lzf_compress(bytes.data(), static_cast<unsigned>(bytes.size()),
                                     out.data() + before, static_cast<unsigned>(most));
  out.resize(before + size);
  return size != 0;
}

// Our own and not the library's, so that the sanitizers of the fuzz targets see every access.
bool expand(std::string_view compressed, size_t size, std::string& out) {
  const size_t begin = out.size();
  if (size / kMostPerByte > compressed.size()) return false;
  out.reserve(begin + std::min(size, 4 * compressed.size()));
  const auto written = [&] { return out.size() - begin; };
  size_t at = 0;
  while (at < compressed.size()) {
    const unsigned control = static_cast<unsigned char>(compressed[at++]);
    if (control < 32) {
      const size_t run = control + 1;
      if (run > compressed.size() - at || run > size - written()) return false;
      out.append(compressed, at, run);
      at += run;
      continue;
    }
    size_t length = (control >> 5) + 2;
    const bool is_long = control >> 5 == 7;
    if (compressed.size() - at < (is_long ? 2u : 1u)) return false;
    if (is_long) length += static_cast<unsigned char>(compressed[at++]);
    const size_t back = ((control & 31) << 8 | static_cast<unsigned char>(compressed[at++])) + 1;
    if (back > written() || length > size - written()) return false;
    // Byte by byte: what is copied may itself be copied, for runs of the same.
    size_t from = out.size() - back;
    out.resize(out.size() + length);
    char* to = out.data() + out.size() - length;
    for (size_t i = 0; i < length; i++) to[i] = out[from++];
  }
  return written() == size;
}

}  // namespace sorrel::lzf
