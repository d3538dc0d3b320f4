#include "resp/reply_writer.h"

#include <fmt/format.h>

#include "base/numbers.h"

namespace sorrel::resp {
namespace {

// Room for a mark, an integer and CRLF.
constexpr size_t kHeaderRoom = 1 + kMaxIntegerText + 2;

size_t put_header(char* to, char mark, int64_t number) {
  to[0] = mark;
  size_t length = 1;
  if (number >= 0 && number < 10) {
    to[length++] = static_cast<char>('0' + number);
  } else if (number >= 10 && number < 100) {
    to[1] = static_cast<char>('0' + number / 10);
    to[2] = static_cast<char>('0' + number % 10);
    length = 3;
  } else {
    length += static_cast<size_t>(format_int64(number, to + 1));
  }
  to[length] = '\r';
  to[length + 1] = '\n';
  return length + 2;
}

}  // namespace

void append_bulk(OutputBuffer& out, std::string_view bytes) {
  char* to = out.reserve(kHeaderRoom + bytes.size() + 2);
  size_t length = put_header(to, '$', static_cast<int64_t>(bytes.size()));
  // An empty view may have no bytes to point at, and memcpy wants some even for none.
  if (!bytes.empty()) std::memcpy(to + length, bytes.data(), bytes.size());
  length += bytes.size();
  to[length] = '\r';
  to[length + 1] = '\n';
  out.advance(length + 2);
}

void append_array_header(OutputBuffer& out, size_t count) {
  char* to = out.reserve(kHeaderRoom);
  out.advance(put_header(to, '*', static_cast<int64_t>(count)));
}

void ReplyWriter::header(char mark, int64_t number) {
  out_->advance(put_header(out_->reserve(kHeaderRoom), mark, number));
}

// CR and LF would end the line early and let a caller forge replies; they become blanks.
void ReplyWriter::line(char mark, std::string_view text) {
  char* to = out_->reserve(text.size() + 3);
  *to++ = mark;
  for (char c : text) *to++ = (c == '\r' || c == '\n') ? ' ' : c;
  *to++ = '\r';
  *to++ = '\n';
  out_->advance(text.size() + 3);
}

void ReplyWriter::simple(std::string_view text) {
  line('+', text);
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
