#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sorrel::lzf {

// LZF, the compression of RDB files, dumps and long lists: fast, and useful from some tens of bytes
// on.
//
//   000lllll bytes                 l + 1 bytes as they are
//   lllooooo oooooooo              l + 2 bytes from o + 1 bytes back, l from 1 to 6
//   111ooooo llllllll oooooooo     l + 9 bytes from o + 1 bytes back

// No compressed byte expands to more than this many.
inline constexpr size_t kMostPerByte = 88;

// Writes the compressed form if it has at most `most` bytes and returns its size; else 0, and the
// content of the output is undefined.
size_t compress(std::string_view bytes, char* out, size_t most);
// Appends the compressed form to `out` if it has at most `most` bytes; else appends nothing: false.
bool compress(std::string_view bytes, size_t most, std::string& out);

// Appends exactly `size` bytes to `out`. False, with the content of `out` undefined, when the
// compressed form is damaged or expands to another number of bytes. Memory grows with the bytes
// actually present, whatever `size` says.
bool expand(std::string_view compressed, size_t size, std::string& out);

}  // namespace sorrel::lzf
