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
  // Bare line feeds between replies, as a primary sends them while it prepares a snapshot.
  bool keep_alives = false;
};

// Turns bytes into replies of RESP2 and RESP3, in whatever pieces the bytes come.
//
// As with RequestParser the caller keeps the bytes of an unfinished reply and calls again with
// those bytes followed by the new ones; the reader remembers how far it got, so that a reply in a
// thousand pieces is read once.
//
//   next("*2\r\n:1\r\n$2\r")            -> kNeedMore
//   next("*2\r\n:1\r\n$2\r\nhi\r\n+OK") -> kReply, consumed() == 16
//
// A peer may send anything: an error says at which byte of the reply what is wrong. Memory grows
// with the elements that have come (24 bytes each), never by what a length or count announces, and
// no nesting recurses. An error depends on the bytes alone, not on how they were cut.
//
// Streamed strings and aggregates ("$?", "*?") are refused: no server sends them.
class ReplyReader {
 public:
  enum class Outcome : uint8_t { kReply, kNeedMore, kKeepAlive, kError };

  explicit ReplyReader(const ReplyLimits& limits = {}) : limits_(limits) {}

  // Reads one reply at the start of `bytes`. Precondition: after kNeedMore `bytes` begin with what
  // was given then; after kError nothing but reset() follows.
  Outcome next(std::string_view bytes);

  // After kReply: valid until the next call and as long as those bytes are.
  Reply reply() const { return {reply_bytes_, tokens_}; }
  // After kReply and kKeepAlive: bytes that are used up.
  size_t consumed() const { return consumed_; }
  // After kError: "offset 12: ...", counted from the begin of the reply.
  const std::string& error() const { return error_; }

  // A reply has begun and not ended.
  bool unfinished() const { return position_ > 0; }
  // Takes back what an unfinished reply, or a large one, holds. Another connection may follow.
  void reset();
  size_t memory_bytes() const {
    return tokens_.capacity() * sizeof(ReplyToken) + open_.capacity() * sizeof(Open) +
           error_.capacity();
  }

  // Elements of the last reply: what a copy of it needs besides its bytes.
  std::span<const ReplyToken> tokens() const { return tokens_; }

 private:
  // An aggregate whose elements are being read.
  struct Open {
    uint32_t token;
    uint64_t left;  // elements that are still to begin
  };
  enum class Step : uint8_t { kRead, kNeedMore, kError };
  // A line: its text, without type byte and line end.
  struct Line {
    std::string_view text;
    size_t end;  // behind its line end
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
  // A length or count; -1 only for those that RESP2 has a null of.
  Step read_count(std::string_view bytes, bool may_be_null, Line& line, int64_t& count);
  Step add(ReplyToken token, size_t end);
  void element_ends();
  Step fail(std::string_view what);

  const ReplyLimits limits_;
  std::vector<ReplyToken> tokens_;
  std::vector<Open> open_;
  size_t position_ = 0;  // where the element begins that is to be read
  size_t looked_ = 0;    // up to here there is no CR in its line
  bool done_ = false;    // an element has ended that is in no aggregate
  size_t consumed_ = 0;
  std::string_view reply_bytes_;
  std::string error_;
};

}  // namespace sorrel::resp
