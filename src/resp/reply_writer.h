#pragma once

#include "resp/output_buffer.h"
#include "resp/reply_sink.h"

namespace sorrel::resp {

// The encoder of replies: RESP2 or RESP3 bytes into a buffer.
class ReplyWriter final : public ReplySink {
 public:
  ReplyWriter(OutputBuffer& out, int protocol) : out_(&out), protocol_(protocol) {}

  void set_protocol(int protocol) { protocol_ = protocol; }
  // Starts the replies of another client.
  void begin(int protocol) {
    protocol_ = protocol;
    forget_cut();
  }
  OutputBuffer& buffer() { return *out_; }

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
  void write_error(std::string_view text) override;
  bool too_long() const override { return out_->size() > kMostRepeated; }
  void header(char mark, int64_t number);
  void line(char mark, std::string_view text);

  static constexpr size_t kMostRepeated = size_t{1} << 28;

  OutputBuffer* out_;
  int protocol_;
};

// Encodes a request or effect: an array of bulk strings.
void append_array_header(OutputBuffer& out, size_t count);
void append_bulk(OutputBuffer& out, std::string_view bytes);

}  // namespace sorrel::resp
