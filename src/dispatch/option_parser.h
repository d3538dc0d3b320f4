#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/numbers.h"

namespace sorrel {

// Reads the options of a command, one word after the other, with one latched error: after the first
// mistake everything answers "no", and the handler looks at failed() once.
//
//   OptionParser options(call.args, 3);
//   while (options.more()) {
//     if (options.word("NX")) nx = true;
//     else if (options.word("EX")) ex = options.integer();
//     else options.fail_syntax();
//   }
//   if (options.failed()) return call.reply.error(options.error());
class OptionParser {
 public:
  OptionParser(std::span<const std::string_view> args, size_t from) : args_(args), at_(from) {}

  bool more() const { return !failed() && at_ < args_.size(); }
  size_t remaining() const { return args_.size() - at_; }
  size_t position() const { return at_; }
  std::string_view peek() const { return args_[at_]; }

  // Takes the next word if it is this one, in any case.
  bool word(std::string_view expected) {
    if (!more() || !iequals(args_[at_], expected)) return false;
    at_++;
    return true;
  }
  // Takes it only when `arguments` more words follow it; as Redis does, a lone word is then an
  // unknown option.
  bool word(std::string_view expected, size_t arguments) {
    if (!more() || remaining() <= arguments) return false;
    return word(expected);
  }

  // The next argument, whatever it is; empty with a syntax error when there is none.
  std::string_view text() {
    if (!more()) {
      fail_syntax();
      return {};
    }
    return args_[at_++];
  }
  int64_t integer(std::string_view error = "ERR value is not an integer or out of range") {
    const std::string_view word = text();
    if (failed()) return 0;
    const auto value = parse_int64(word);
    if (!value) fail(error);
    return value.value_or(0);
  }

  // `error` must outlive the parser: a literal. The first one stays.
  void fail(std::string_view error) {
    if (error_.empty()) error_ = error;
  }
  void fail_syntax() { fail("ERR syntax error"); }
  bool failed() const { return !error_.empty(); }
  std::string_view error() const { return error_; }

 private:
  std::span<const std::string_view> args_;
  size_t at_;
  std::string_view error_;
};

}  // namespace sorrel
