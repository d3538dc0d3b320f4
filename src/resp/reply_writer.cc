// Encodes replies. GET and SET with small values dominate, so short strings and numbers are written
// without function calls, and everything else out of line.

#include "resp/reply_writer.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/numbers.h"

namespace sorrel::resp {
namespace {

// Size of a type byte, an integer and CRLF.
constexpr size_t kMaxHeaderBytes = 1 + kMaxIntegerText + 2;

inline size_t put_header(char* to, char mark, int64_t number) {
  // Short numbers are assembled in a register and stored at once; the buffer has space for 8 bytes.
  const auto letter = [](uint64_t c, unsigned place) { return c << (8 * place); };
  const auto first = static_cast<unsigned char>(mark);
  if (number >= 0 && number < 10) {
    store(to,
          static_cast<uint32_t>(letter(first, 0) | letter('0' + static_cast<uint64_t>(number), 1) |
                                letter('\r', 2) | letter('\n', 3)));
    return 4;
  }
  if (number >= 10 && number < 100) {
    const auto tens = static_cast<uint64_t>(number) / 10;
    const auto ones = static_cast<uint64_t>(number) % 10;
    store(to, letter(first, 0) | letter('0' + tens, 1) | letter('0' + ones, 2) | letter('\r', 3) |
                  letter('\n', 4));
    return 5;
  }
  to[0] = mark;
  const size_t length = 1 + static_cast<size_t>(format_int64(number, to + 1));
  to[length] = '\r';
  to[length + 1] = '\n';
  return length + 2;
}

}  // namespace

namespace {

// Out of line: a function call in the path of short strings would cost more than copying their
// bytes.
[[gnu::noinline]] void append_long_bulk(OutputBuffer& out, std::string_view bytes) {
  out.advance(put_header(out.reserve(kMaxHeaderBytes + bytes.size() + 2), '$',
                         static_cast<int64_t>(bytes.size())));
  out.append(bytes);
  out.append("\r\n");
}

}  // namespace

void append_bulk(OutputBuffer& out, std::string_view bytes) {
  constexpr size_t kShort = 64;
  if (bytes.size() > kShort || out.lacks(kMaxHeaderBytes + kShort + 2)) [[unlikely]] {
    return append_long_bulk(out, bytes);
  }
  char* to = out.reserve(0);
  size_t length = put_header(to, '$', static_cast<int64_t>(bytes.size()));
  copy_bytes(to + length, bytes.data(), bytes.size());
  length += bytes.size();
  to[length] = '\r';
  to[length + 1] = '\n';
  out.advance(length + 2);
}

void append_array_header(OutputBuffer& out, size_t count) {
  char* to = out.reserve(kMaxHeaderBytes);
  out.advance(put_header(to, '*', static_cast<int64_t>(count)));
}

void ReplyWriter::header(char mark, int64_t number) {
  out_->advance(put_header(out_->reserve(kMaxHeaderBytes), mark, number));
}

// CR and LF would end the line early and allow forged replies; they are replaced by blanks.
void ReplyWriter::line(char mark, std::string_view text) {
  char* to = out_->reserve(text.size() + 3);
  *to++ = mark;
  for (char c : text) *to++ = (c == '\r' || c == '\n') ? ' ' : c;
  *to++ = '\r';
  *to++ = '\n';
  out_->advance(text.size() + 3);
}

void ReplyWriter::simple(std::string_view text) {
  // Common case: SET and most writes.
  if (text == "OK") {
    out_->append("+OK\r\n");
  } else {
    line('+', text);
  }
}
void ReplyWriter::write_error(std::string_view text) {
  line('-', text);
}
void ReplyWriter::integer(int64_t value) {
  header(':', value);
}
void ReplyWriter::bulk(std::string_view bytes) {
  append_bulk(*out_, bytes);
}

void ReplyWriter::bulk_integer(int64_t value) {
  char text[kMaxIntegerText];
  append_bulk(*out_, {text, static_cast<size_t>(format_int64(value, text))});
}

void ReplyWriter::null() {
  out_->append(protocol_ == 3 ? "_\r\n" : "$-1\r\n");
}
void ReplyWriter::null_array() {
  out_->append(protocol_ == 3 ? "_\r\n" : "*-1\r\n");
}

void ReplyWriter::real(double value) {
  real_text(format_double(value));
}

void ReplyWriter::real_text(std::string_view decimal) {
  if (protocol_ == 3) {
    line(',', decimal);
  } else {
    bulk(decimal);
  }
}

void ReplyWriter::boolean(bool value) {
  if (protocol_ == 3) {
    out_->append(value ? "#t\r\n" : "#f\r\n");
  } else {
    integer(value ? 1 : 0);
  }
}

void ReplyWriter::big_number(std::string_view digits) {
  if (protocol_ == 3) {
    line('(', digits);
  } else {
    bulk(digits);
  }
}

void ReplyWriter::verbatim(std::string_view format, std::string_view text) {
  if (protocol_ != 3) {
    bulk(text);
    return;
  }
  header('=', static_cast<int64_t>(text.size() + 4));
  out_->append(format.substr(0, 3));
  out_->append(":");
  out_->append(text);
  out_->append("\r\n");
}

void ReplyWriter::array(int64_t count) {
  header('*', count);
}
void ReplyWriter::map(int64_t pairs) {
  if (protocol_ == 3) {
    header('%', pairs);
  } else {
    header('*', pairs * 2);
  }
}
void ReplyWriter::set(int64_t count) {
  header(protocol_ == 3 ? '~' : '*', count);
}
void ReplyWriter::push(int64_t count) {
  header(protocol_ == 3 ? '>' : '*', count);
}
void ReplyWriter::attribute(int64_t pairs) {
  header('|', pairs);
}

}  // namespace sorrel::resp
