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

// One element of a reply. A reply is the sequence of its elements in pre-order, the order of its
// bytes:
//
//   *2 CRLF :7 CRLF %1 CRLF +k CRLF +v CRLF :8 CRLF     the last one follows the reply
//   array   integer map     simple  simple
//   next=5  next=2  next=5  next=4  next=5
//
// Texts are not copied: they end two bytes (CR LF) before the next element begins.
struct ReplyToken {
  size_t at;  // offset of the type byte from the start of the reply
  union {
    size_t text;      // offset of the text of this element
    size_t count;     // of elements; of pairs for kMap and kAttribute
    int64_t integer;  // kInteger; kBoolean: 0 or 1
  };
  uint32_t next;  // the index of the first token that is not part of this element
  ReplyType type;
};

// A view of a reply, or of an element within one. Valid as long as the bytes and the tokens. Both
// may be copied together: tokens contain offsets, no addresses.
//
// Attributes are skipped: the view is of the element that follows them, and attribute() returns
// them.
class Reply {
 public:
  // `bytes` is exactly the reply. Precondition: `tokens` are all tokens that ReplyReader produced
  // for it.
  Reply(std::string_view bytes, std::span<const ReplyToken> tokens) : Reply(bytes, tokens, 0) {}

  ReplyType type() const { return token().type; }
  bool is_null() const { return type() == ReplyType::kNull || type() == ReplyType::kNullArray; }
  bool is_error() const { return type() == ReplyType::kError || type() == ReplyType::kBulkError; }
  bool is_aggregate() const { return type() >= ReplyType::kArray; }
  // Is the element a simple, bulk or verbatim string?
  bool is_string() const {
    return type() == ReplyType::kSimple || type() == ReplyType::kBulk ||
           type() == ReplyType::kVerbatim;
  }

  // Text of a string, error, double or big number as sent, without type and length; of a verbatim
  // string without its format. Empty for all other types.
  std::string_view text() const;
  // The first word of an error: "ERR", "MOVED".
  std::string_view error_code() const { return text().substr(0, text().find(' ')); }
  // The three letters of a verbatim string's format. Empty for all other types.
  std::string_view format() const;
  // Value of an integer; 0 or 1 for a boolean; 0 for all other types.
  int64_t integer() const;
  bool boolean() const { return integer() != 0; }
  // Value of a double, infinite or 0 when out of range; 0 for all other types.
  double real() const;

  // The number of elements of an aggregate, of pairs for a map or attribute; 0 for all other types.
  size_t size() const { return is_aggregate() ? token().count : 0; }
  // The elements in order; keys and values alternate in maps and attributes. Empty unless an
  // aggregate.
  class Iterator;
  Iterator begin() const;
  Iterator end() const;

  // The attribute sent before this element (the last one if there are several).
  std::optional<Reply> attribute() const;
  // The element as it was sent, attributes included.
  std::string_view bytes() const;

 private:
  friend void send_reply(const Reply& reply, ReplySink& sink);

  // The element that begins at token `first`, which may be an attribute of that element.
  Reply(std::string_view bytes, std::span<const ReplyToken> tokens, uint32_t first);
  const ReplyToken& token() const { return tokens_[value_]; }
  // Offset of the token's bytes, or the end of the reply.
  size_t begin_of(uint32_t index) const {
    return index == tokens_.size() ? bytes_.size() : tokens_[index].at;
  }
  std::string_view text_of(uint32_t index) const;

  std::string_view bytes_;
  std::span<const ReplyToken> tokens_;
  uint32_t first_;  // the first attribute, if any
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

// Forwards a reply of another server to `sink`, converted to the protocol of the sink. Attributes
// are omitted in RESP2.
void send_reply(const Reply& reply, ReplySink& sink);

}  // namespace sorrel::resp
