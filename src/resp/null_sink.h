#pragma once

#include "resp/reply_sink.h"

namespace sorrel::resp {

// Discards every reply: for commands replayed from the AOF, which have no client. Errors are
// counted as by any sink (errors(), last_error_code()), and the last text is kept for the server
// log.
class NullSink final : public ReplySink {
 public:
  // Text of the last error; empty: none.
  const std::string& last_error() const { return text_; }

  void simple(std::string_view) override {}
  void integer(int64_t) override {}
  void bulk(std::string_view) override {}
  void bulk_integer(int64_t) override {}
  void null() override {}
  void null_array() override {}
  void real(double) override {}
  void boolean(bool) override {}
  void big_number(std::string_view) override {}
  void verbatim(std::string_view, std::string_view) override {}
  void array(int64_t) override {}
  void map(int64_t) override {}
  void set(int64_t) override {}
  void push(int64_t) override {}
  void attribute(int64_t) override {}
  int protocol() const override { return 2; }

 private:
  void write_error(std::string_view text) override { text_.assign(text); }

  std::string text_;
};

}  // namespace sorrel::resp
