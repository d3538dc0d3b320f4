#pragma once

#include <cstdint>
#include <lua5.1/lua.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "resp/reply_sink.h"

namespace sorrel::script {

// How the debugger formats values for people. The output is bounded, however large a value is and
// even if it refers to itself.
inline constexpr size_t kMostDebugText = size_t{1} << 20;

// Appends a Lua value: {1; 2}, {["a"]=true}, "text", nil, "function@0x...". Runs no script code
// (metamethods) and raises no error.
void append_value(std::string& out, lua_State* state, int index);

// The reply to a command, formatted and passed on to another sink: ["a",1,NULL], "+OK", {"k" =>
// (null)}.
class ShowingSink final : public resp::ReplySink {
 public:
  explicit ShowingSink(resp::ReplySink& to) : to_(to) {}
  const std::string& text() const { return text_; }
  // The last error in the reply, unchanged.
  const std::string& error_text() const { return error_text_; }

  void simple(std::string_view text) override;
  void integer(int64_t value) override;
  void bulk(std::string_view bytes) override;
  void bulk_integer(int64_t value) override;
  void null() override;
  void null_array() override;
  void real(double value) override;
  void real_text(std::string_view decimal) override;
  void boolean(bool value) override;
  void big_number(std::string_view digits) override;
  void verbatim(std::string_view format, std::string_view text) override;
  void array(int64_t count) override;
  void map(int64_t pairs) override;
  void set(int64_t count) override;
  void push(int64_t count) override;
  void attribute(int64_t pairs) override;
  int protocol() const override { return to_.protocol(); }

 private:
  // An aggregate that is not complete yet.
  struct Frame {
    int64_t remaining;  // values to come
    bool pairs;
    char closing;
  };

  void write_error(std::string_view text) override;
  bool is_3() const { return to_.protocol() == 3; }
  void add(std::string_view text);
  void value(std::string_view text);
  void quote(std::string_view text);
  void open(std::string_view opening, Frame frame);
  void between();

  resp::ReplySink& to_;
  std::string text_;
  std::string error_text_;
  std::vector<Frame> frames_;
};

}  // namespace sorrel::script
