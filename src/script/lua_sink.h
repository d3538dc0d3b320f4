#pragma once

#include <lua5.1/lua.hpp>
#include <vector>

#include "resp/reply_sink.h"

namespace sorrel::script {

// The ReplySink of commands called by scripts: converts replies directly into values on the Lua
// stack, by the type conversion that Redis documents.
//
// Precondition between begin() and end(): the heap is lenient, so that no call into Lua raises an
// error; an error would unwind through the command handler.
class LuaSink final : public resp::ReplySink {
 public:
  // `protocol` is the script's: redis.setresp(). False: the stack is full.
  bool begin(lua_State* state, int protocol);
  // The reply is one value on top of the stack. True: it is an error.
  bool end();

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
  int protocol() const override { return protocol_; }

 private:
  enum class Shape : uint8_t { kArray, kMap, kSet, kDropped };
  // An aggregate that is not complete yet. Its table is on the stack; for a map, between key and
  // value, the key, too.
  struct Frame {
    Shape shape;
    int64_t remaining;  // values to come
    int index = 0;
  };
  // Replies nest a few levels (COMMAND DOCS); deeper values are dropped.
  static constexpr size_t kDeepest = 32;
  static constexpr int kSlotsPerLevel = 3;

  void write_error(std::string_view text) override;
  void open(Shape shape, int64_t values);
  void field(const char* name, std::string_view text);
  void push_text(std::string_view text) { lua_pushlstring(state_, text.data(), text.size()); }
  // The value on top of the stack is complete: stores it in its aggregate.
  void done();

  lua_State* state_ = nullptr;
  int protocol_ = 2;
  int base_ = 0;
  bool failed_ = false;
  std::vector<Frame> frames_;
};

}  // namespace sorrel::script
