#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include "resp/reply_sink.h"

namespace sorrel::resp {

enum class ReplyType : uint8_t {
  kSimple,     // +
  kError,      // -
  kInteger,    // :
  kBulk,       // $
  kNull,       // _ and $-1
  kNullArray,  // *-1
  kBoolean,    // #
  kDouble,     // ,
  kBigNumber,  // (
  kBulkError,  // !
  kVerbatim,   // =
  kArray,      // *
  kSet,        // ~
  kPush,       // >
  kMap,        // %
  kAttribute,  // | : pairs about the element that follows them
};

// One element of a reply. A reply is the sequence of its elements in pre-order, as they stand in
// its bytes:
//
//   *2 CRLF :7 CRLF %1 CRLF +k CRLF +v CRLF :8 CRLF     the last is no part of the reply
//   array   integer map     simple  simple
//   next=5  next=2  next=5  next=4  next=5
//
// Texts are not copied: they end two bytes (CR LF) before the next element begins.
struct ReplyToken {
  size_t at;  // of its type byte, counted from the begin of the reply
  union {
    size_t text;      // where the text of this element begins
    size_t count;     // of elements; of pairs for kMap and kAttribute
    int64_t integer;  // kInteger; kBoolean: 0 or 1
  };
  uint32_t next;  // the index of the first token that is not part of this element
  ReplyType type;
};

// A view of a reply, or of an element within one. Valid as long as the bytes and the tokens, which
// a client library may copy together: tokens hold offsets, no addresses.
//
// Attributes are passed over: an element is what follows them, and attribute() shows them.
class Reply {
 public:
  // `bytes` begins where the reply does and ends with it. Precondition: the tokens are those that
  // ReplyReader made of it, all of them.
  Reply(std::string_view bytes, std::span<const ReplyToken> tokens) : Reply(bytes, tokens, 0) {}

  ReplyType type() const { return token().type; }
  bool is_null() const { return type() == ReplyType::kNull || type() == ReplyType::kNullArray; }
  bool is_error() const { return type() == ReplyType::kError || type() == ReplyType::kBulkError; }
  bool is_aggregate() const { return type() >= ReplyType::kArray; }
  // Simple, bulk or verbatim.
  bool is_string() const {
    return type() == ReplyType::kSimple || type() == ReplyType::kBulk ||
           type() == ReplyType::kVerbatim;
  }

  // Of strings, errors, doubles and big numbers: as sent, without type and length. Of a verbatim
  // string: without its format. Of all others: empty.
  std::string_view text() const;
  // The first word of an error: "ERR", "MOVED".
  std::string_view error_code() const { return text().substr(0, text().find(' ')); }
  // Of a verbatim string: three letters. Of all others: empty.
  std::string_view format() const;
  // Of an integer, and 0 or 1 of a boolean; else 0.
  int64_t integer() const;
  bool boolean() const { return integer() != 0; }
  // Of a double. One that is out of range is infinite or 0. Else 0.
  double real() const;

  // Of an aggregate: the number of elements, of pairs for a map or attribute. Else 0.
  size_t size() const { return is_aggregate() ? token().count : 0; }
  // Elements in order; of maps and attributes keys and values in turn. Empty unless an aggregate.
  class Iterator;
  Iterator begin() const;
  Iterator end() const;

  // The attribute sent before this element (the last one if there are several).
  std::optional<Reply> attribute() const;
  // The element as it was sent, attributes included.
  std::string_view bytes() const;

 private:
  friend void send_reply(const Reply& reply, ReplySink& sink);

  // The element that begins at token `first`, which may be an attribute of it.
  Reply(std::string_view bytes, std::span<const ReplyToken> tokens, uint32_t first);
  const ReplyToken& token() const { return tokens_[value_]; }
  // Where the bytes of that token begin, or those of the reply end.
  size_t begin_of(uint32_t index) const {
    return index == tokens_.size() ? bytes_.size() : tokens_[index].at;
  }
  std::string_view text_of(uint32_t index) const;

  std::string_view bytes_;
  std::span<const ReplyToken> tokens_;
  uint32_t first_;  // its attributes, if there are some
  uint32_t value_;
};

class Reply::Iterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = Reply;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = Reply;

  Reply operator*() const { return Reply(parent_.bytes_, parent_.tokens_, at_); }
  Iterator& operator++() {
    at_ = parent_.tokens_[Reply(parent_.bytes_, parent_.tokens_, at_).value_].next;
    return *this;
  }
  Iterator operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Iterator& other) const { return at_ == other.at_; }

 private:
  friend class Reply;
  Iterator(const Reply& parent, uint32_t at) : parent_(parent), at_(at) {}

  Reply parent_;
  uint32_t at_;
};

inline Reply::Iterator Reply::begin() const {
  return {*this, is_aggregate() ? value_ + 1 : token().next};
}
inline Reply::Iterator Reply::end() const {
  return {*this, token().next};
}

// Answers what a server answered: in the form of the sink's protocol, whatever that of the reply
// was. RESP2 has no attributes: they are left out.
void send_reply(const Reply& reply, ReplySink& sink);

}  // namespace sorrel::resp
