#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace sorrel::resp {

// The destination of a command's reply: RESP2 bytes, RESP3 bytes, a Lua stack, or none. A handler
// calls exactly one method, or one aggregate method followed by exactly that many replies.
//
// Simple strings and errors never contain CR or LF: implementations replace them by blanks.
class ReplySink {
 public:
  virtual ~ReplySink() = default;

  virtual void simple(std::string_view text) = 0;
  // `text` begins with its error code: "ERR syntax error", "WRONGTYPE ...". No leading '-'.
  void error(std::string_view text) {
    errors_++;
    last_error_.assign(text.substr(0, text.find(' ')));
    write_error(text);
  }
  // The same for an error that was counted already: one of a command inside a script, passed on.
  void error_again(std::string_view text) {
    repeated_errors_++;
    error(text);
  }
  virtual void integer(int64_t value) = 0;
  virtual void bulk(std::string_view bytes) = 0;
  // A decimal integer as a bulk string (GET of an int-encoded value).
  virtual void bulk_integer(int64_t value) = 0;
  virtual void null() = 0;        // RESP2: null bulk
  virtual void null_array() = 0;  // RESP2: null array; RESP3: null
  virtual void real(double value) = 0;
  // A formatted number (INCREX, coordinates), which a double would round: RESP3 sends it as a
  // double, RESP2 as a bulk string.
  virtual void real_text(std::string_view decimal) { bulk(decimal); }
  virtual void boolean(bool value) = 0;
  virtual void big_number(std::string_view digits) = 0;
  // `format` is three letters: "txt" or "mkd". RESP2 sends the text as a bulk string.
  virtual void verbatim(std::string_view format, std::string_view text) = 0;

  // Aggregates; the count is that of elements, for a map of pairs (RESP2 sends a flat array).
  virtual void array(int64_t count) = 0;
  virtual void map(int64_t pairs) = 0;
  virtual void set(int64_t count) = 0;
  virtual void push(int64_t count) = 0;
  virtual void attribute(int64_t pairs) = 0;  // RESP3 only: must not be called under RESP2

  // 2 or 3, for the few replies whose structure depends on the protocol.
  virtual int protocol() const = 0;

  void ok() { simple("OK"); }

  // For handlers that repeat elements as often as the client requests, without limit: called
  // between two elements. True: the reply exceeds the limit; the handler stops, and the connection
  // is closed, since the reply is incomplete.
  bool stop_repeating() {
    cut_ |= too_long();
    return cut_;
  }
  bool was_cut() const { return cut_; }

  // The number of error replies and the error code of the last one, counted by the executor.
  uint64_t errors() const { return errors_; }
  // Errors among these that were counted already where they occurred, since the previous call.
  uint64_t take_repeated_errors() { return std::exchange(repeated_errors_, 0); }
  std::string_view last_error_code() const { return last_error_; }

 protected:
  virtual void write_error(std::string_view text) = 0;
  virtual bool too_long() const { return false; }
  void forget_cut() { cut_ = false; }

 private:
  bool cut_ = false;
  uint64_t errors_ = 0;
  uint64_t repeated_errors_ = 0;
  std::string last_error_;
};

}  // namespace sorrel::resp
