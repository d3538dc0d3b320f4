#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "resp/reply.h"

namespace sorrel::resp {

struct ReplyLimits {
  size_t max_depth = 1024;  // of aggregates within each other
  size_t max_bulk = size_t{512} << 20;
  size_t max_line = size_t{1} << 20;       // simple strings, errors, doubles, big numbers
  size_t max_elements = size_t{16} << 20;  // of one reply, those within others included
  size_t max_bytes = size_t{1} << 30;      // of one reply
  // Accepts bare line feeds between replies, sent by a primary while it prepares a snapshot.
  bool keep_alives = false;
};

// Incremental parser for replies of RESP2 and RESP3; the bytes may arrive split at any position.
//
// As with RequestParser the caller keeps the bytes of an incomplete reply and calls again with
// those bytes followed by the new ones; the reader stores its position, so that every byte is
// parsed once.
//
//   next("*2\r\n:1\r\n$2\r")            -> kNeedMore
//   next("*2\r\n:1\r\n$2\r\nhi\r\n+OK") -> kReply, consumed() == 16
//
// Input is untrusted: an error gives the offset and the reason. Memory grows with the elements
// received (24 bytes each), never by an announced length or count, and nesting does not recurse.
// Errors depend on the bytes only, not on how they were split.
//
// Streamed strings and aggregates ("$?", "*?") are rejected: no server sends them.
class ReplyReader {
 public:
  enum class Outcome : uint8_t { kReply, kNeedMore, kKeepAlive, kError };

  explicit ReplyReader(const ReplyLimits& limits = {}) : limits_(limits) {}

  // Reads one reply at the start of `bytes`. Precondition: after kNeedMore `bytes` begin with the
  // bytes of the previous call; after kError only reset() may be called.
  Outcome next(std::string_view bytes);

  // After kReply: valid until the next call, and as long as its bytes.
  Reply reply() const { return {reply_bytes_, tokens_}; }
  // After kReply and kKeepAlive: the number of bytes consumed.
  size_t consumed() const { return consumed_; }
  // After kError: "offset 12: ...", counted from the start of the reply.
  const std::string& error() const { return error_; }

  // Is a reply begun but not complete?
  bool unfinished() const { return position_ > 0; }
  // Forgets an incomplete reply and frees the memory of a large one. The reader can then serve
  // another connection.
  void reset();
  size_t memory_bytes() const {
    return tokens_.capacity() * sizeof(ReplyToken) + open_.capacity() * sizeof(Open) +
           error_.capacity();
  }

  // The tokens of the last reply, needed with its bytes to copy it.
  std::span<const ReplyToken> tokens() const { return tokens_; }

 private:
  // An aggregate whose elements are being read.
  struct Open {
    uint32_t token;
    uint64_t left;  // elements not begun yet
  };
  enum class Step : uint8_t { kRead, kNeedMore, kError };
  // The text of a line, without type byte and line end.
  struct Line {
    std::string_view text;
    size_t end;  // offset after its line end
  };

  void begin();
  Step read_element(std::string_view bytes);
  Step read_line(std::string_view bytes, size_t max, Line& line);
  Step read_text_line(std::string_view bytes, ReplyType type);
  Step read_integer(std::string_view bytes);
  Step read_null(std::string_view bytes);
  Step read_boolean(std::string_view bytes);
  Step read_bulk(std::string_view bytes, ReplyType type);
  Step read_aggregate(std::string_view bytes, ReplyType type);
  // A length or count; -1 only for types that have a null in RESP2.
  Step read_count(std::string_view bytes, bool may_be_null, Line& line, int64_t& count);
  Step add(ReplyToken token, size_t end);
  void element_ends();
  Step fail(std::string_view what);

  const ReplyLimits limits_;
  std::vector<ReplyToken> tokens_;
  std::vector<Open> open_;
  size_t position_ = 0;  // offset of the element being read
  size_t scanned_ = 0;   // no CR in its line before this offset
  bool done_ = false;    // a top-level element is complete
  size_t consumed_ = 0;
  std::string_view reply_bytes_;
  std::string error_;
};

}  // namespace sorrel::resp
