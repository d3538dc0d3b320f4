#include "resp/reply.h"

#include <limits>

#include "base/numbers.h"

namespace sorrel::resp {
namespace {

// "txt:" before the text of a verbatim string.
constexpr size_t kFormatLetters = 3;
constexpr size_t kFormatBytes = kFormatLetters + 1;
constexpr size_t kAfterText = 2;  // CR LF

bool has_text(ReplyType type) {
  switch (type) {
    case ReplyType::kSimple:
    case ReplyType::kError:
    case ReplyType::kBulk:
    case ReplyType::kDouble:
    case ReplyType::kBigNumber:
    case ReplyType::kBulkError:
    case ReplyType::kVerbatim:
      return true;
    default:
      return false;
  }
}

}  // namespace

Reply::Reply(std::string_view bytes, std::span<const ReplyToken> tokens, uint32_t first)
    : bytes_(bytes), tokens_(tokens), first_(first), value_(first) {
  while (tokens_[value_].type == ReplyType::kAttribute) value_ = tokens_[value_].next;
}

std::string_view Reply::text_of(uint32_t index) const {
  const size_t begin = tokens_[index].text;
  return bytes_.substr(begin, begin_of(index + 1) - kAfterText - begin);
}

std::string_view Reply::text() const {
  if (!has_text(type())) return {};
  std::string_view text = text_of(value_);
  if (type() == ReplyType::kVerbatim) text.remove_prefix(kFormatBytes);
  return text;
}

std::string_view Reply::format() const {
  return type() == ReplyType::kVerbatim ? text_of(value_).substr(0, kFormatLetters)
                                        : std::string_view();
}

int64_t Reply::integer() const {
  const bool has = type() == ReplyType::kInteger || type() == ReplyType::kBoolean;
  return has ? token().integer : 0;
}

double Reply::real() const {
  if (type() != ReplyType::kDouble) return 0;
  if (const auto value = parse_double(text())) return *value;
  if (const auto value = parse_long_double(text())) return static_cast<double>(*value);
  return std::numeric_limits<double>::quiet_NaN();
}

std::optional<Reply> Reply::attribute() const {
  if (first_ == value_) return std::nullopt;
  uint32_t last = first_;
  while (tokens_[last].next != value_) last = tokens_[last].next;
  Reply found = *this;
  found.first_ = found.value_ = last;
  return found;
}

std::string_view Reply::bytes() const {
  const size_t begin = begin_of(first_);
  return bytes_.substr(begin, begin_of(token().next) - begin);
}

namespace {

// All types except attributes.
void send_element(const Reply& element, ReplySink& sink) {
  const auto count = static_cast<int64_t>(element.size());
  switch (element.type()) {
    case ReplyType::kSimple:
      return sink.simple(element.text());
    case ReplyType::kError:
    case ReplyType::kBulkError:
      return sink.error(element.text());
    case ReplyType::kInteger:
      return sink.integer(element.integer());
    case ReplyType::kBulk:
      return sink.bulk(element.text());
    case ReplyType::kNull:
      return sink.null();
    case ReplyType::kNullArray:
      return sink.null_array();
    case ReplyType::kBoolean:
      return sink.boolean(element.boolean());
    case ReplyType::kDouble:
      return sink.real_text(element.text());
    case ReplyType::kBigNumber:
      return sink.big_number(element.text());
    case ReplyType::kVerbatim:
      return sink.verbatim(element.format(), element.text());
    case ReplyType::kArray:
      return sink.array(count);
    case ReplyType::kSet:
      return sink.set(count);
    case ReplyType::kPush:
      return sink.push(count);
    case ReplyType::kMap:
      return sink.map(count);
    case ReplyType::kAttribute:
      return;
  }
}

}  // namespace

void send_reply(const Reply& reply, ReplySink& sink) {
  const std::span<const ReplyToken> tokens = reply.tokens_;
  const uint32_t end = reply.token().next;
  for (uint32_t at = reply.first_; at < end;) {
    if (tokens[at].type != ReplyType::kAttribute) {
      send_element(Reply(reply.bytes_, tokens, at), sink);
      at++;
    } else if (sink.protocol() == 3) {
      sink.attribute(static_cast<int64_t>(tokens[at].count));
      at++;
    } else {
      at = tokens[at].next;
    }
  }
}

}  // namespace sorrel::resp
