#pragma once

#include <cstddef>

#include "resp/output_buffer.h"

namespace sorrel {

// A part of a scratch buffer of the turn, which any number of sessions may be sent.
struct Piece {
  const resp::OutputBuffer* buffer = nullptr;
  size_t begin = 0;
  size_t end = 0;
};

}  // namespace sorrel
