#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/default_limits.h"
#include "resp/arg_list.h"

namespace sorrel::resp {

struct RequestLimits {
  int64_t max_arguments = 1024 * 1024;
  int64_t max_bulk = kDefaultMaxBulkBytes;
  size_t max_line = 64 * 1024;  // inline requests and length lines
  bool authenticated = true;    // before that: 10 arguments of 16 KB
};

// Turns bytes into requests, without a heap object per argument: arguments are views into the
// bytes.
//
// The caller keeps the bytes of an unfinished request and calls again with those bytes followed by
// the new ones; the parser remembers how far it got, so a request that arrives in a thousand pieces
// is still read once.
//
//   next("*2\r\n$4\r\nECHO\r\n$2\r")    -> kNeedMore   (state: one argument, waiting for a length)
//   next("*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n...") -> kRequest, consumed() == 22
//
// An idle parser takes one pointer.
class RequestParser {
 public:
  enum class Outcome : uint8_t { kRequest, kNeedMore, kError };

  // Parses one request at the start of `bytes` and appends its arguments to `args` (views into
  // `bytes`, except for inline requests with quotes, whose texts live in `inline_store`). A request
  // may have no arguments at all: an empty line. On kNeedMore and kError nothing is appended.
  Outcome next(std::string_view bytes, const RequestLimits& limits, ArgList& args,
               std::vector<std::unique_ptr<std::string>>& inline_store);

  // After kRequest: bytes that belong to it.
  size_t consumed() const { return consumed_; }
  // After kError: "Protocol error: ...", ready to be answered behind "ERR ".
  std::string_view error() const { return error_; }
  // Is a request begun but not finished?
  bool unfinished() const { return partial_ != nullptr; }
  // How many bytes of it are understood already.
  size_t understood() const { return partial_ == nullptr ? 0 : partial_->position; }
  // With `size` bytes of it: how many of these belong to the argument that is being read, its CR LF
  // included. 0 until its length is known.
  size_t argument_bytes(size_t size) const;
  // Bytes kept for an unfinished request's argument list.
  size_t memory_bytes() const;

  // Forgets an unfinished request.
  void reset() { partial_.reset(); }

 private:
  struct Span {
    size_t begin;
    size_t length;
  };
  // Where an unfinished multibulk request stands. Offsets count from the start of the request.
  struct Partial {
    size_t position;
    int64_t arguments_left;
    int64_t bulk_length;  // kNoLength until its line has been read
    std::vector<Span> spans;
  };
  struct Progress {
    size_t position;
    int64_t arguments_left;
    int64_t bulk_length;
  };
  enum class Number : uint8_t { kOk, kNeedMore, kTooLong, kBad };

  Outcome parse_inline(std::string_view bytes, const RequestLimits& limits, ArgList& args,
                       std::vector<std::unique_ptr<std::string>>& inline_store);
  Outcome fail(std::string message);
  Outcome begin(std::string_view bytes, const RequestLimits& limits, Progress& progress);
  Outcome read_length(std::string_view bytes, const RequestLimits& limits, Progress& progress);
  Outcome suspend(const Progress& progress, std::string_view bytes, ArgList& args, size_t first);
  static Number read_number(std::string_view bytes, size_t& position, size_t max_line,
                            int64_t& value);

  std::unique_ptr<Partial> partial_;
  size_t consumed_ = 0;
  std::string error_;
};

}  // namespace sorrel::resp
