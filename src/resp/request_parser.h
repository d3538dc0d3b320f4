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
  bool authenticated = true;    // false: at most 10 arguments of 16 KB
};

// Incremental parser for requests, without a heap object per argument: arguments are views into the
// bytes.
//
// The caller keeps the bytes of an incomplete request and calls again with those bytes followed by
// the new ones; the parser stores its position, so that every byte is parsed once.
//
//   next("*2\r\n$4\r\nECHO\r\n$2\r")    -> kNeedMore   (state: one argument, waiting for a length)
//   next("*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n...") -> kRequest, consumed() == 22
//
// An idle parser occupies one pointer.
class RequestParser {
 public:
  enum class Outcome : uint8_t { kRequest, kNeedMore, kError };

  // Parses one request at the start of `bytes` and appends its arguments to `args` (views into
  // `bytes`, except for inline requests with quotes, which are stored in `inline_store`). An empty
  // line is a request without arguments. On kNeedMore and kError nothing is appended.
  Outcome next(std::string_view bytes, const RequestLimits& limits, ArgList& args,
               std::vector<std::unique_ptr<std::string>>& inline_store);

  // After kRequest: the size of the request.
  size_t consumed() const { return consumed_; }
  // After kError: "Protocol error: ...", to be sent after "ERR ".
  std::string_view error() const { return error_; }
  // Is a request begun but not complete?
  bool unfinished() const { return partial_ != nullptr; }
  // The number of its bytes that are parsed.
  size_t understood() const { return partial_ == nullptr ? 0 : partial_->position; }
  // With `size` bytes received: how many of them belong to the current argument, its CR LF
  // included. 0 until the length of the argument is known.
  size_t argument_bytes(size_t size) const;
  // Memory of an incomplete request's argument list.
  size_t memory_bytes() const;

  // Forgets an incomplete request.
  void reset() { partial_.reset(); }

 private:
  struct Span {
    size_t begin;
    size_t length;
  };
  // State of an incomplete multibulk request. Offsets count from the start of the request.
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
