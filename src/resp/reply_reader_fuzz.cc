#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "resp/reply_fixture.h"

namespace sorrel::resp::testing {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// RESP3 has a single null, and no multi-line errors.
ReplyType sent_type(ReplyType type) {
  if (type == ReplyType::kNullArray) return ReplyType::kNull;
  return type == ReplyType::kBulkError ? ReplyType::kError : type;
}

// Forwarded and parsed again the reply is unchanged.
void send_on(const ReplyReader& reader, const ReplyLimits& limits) {
  const std::string once = encoded(reader.reply(), 3);
  ReplyReader again(limits);
  require(again.next(once) == ReplyReader::Outcome::kReply && again.consumed() == once.size());
  require(encoded(again.reply(), 3) == once);
  const auto first = reader.tokens();
  const auto second = again.tokens();
  require(std::equal(first.begin(), first.end(), second.begin(), second.end(),
                     [](const ReplyToken& a, const ReplyToken& b) {
                       return sent_type(a.type) == b.type && a.next == b.next;
                     }));
  // RESP2 loses types, but not the structure.
  const std::string plain = encoded(reader.reply(), 2);
  ReplyReader plainly(limits);
  require(plainly.next(plain) == ReplyReader::Outcome::kReply);
  require(plainly.consumed() == plain.size());
}

void read_all(std::string_view bytes, const ReplyLimits& limits) {
  ReplyReader reader(limits);
  for (;;) {
    const ReplyReader::Outcome outcome = reader.next(bytes);
    if (outcome == ReplyReader::Outcome::kNeedMore) return;
    if (outcome == ReplyReader::Outcome::kError) return require(!reader.error().empty());
    require(reader.consumed() > 0 && reader.consumed() <= bytes.size());
    if (outcome == ReplyReader::Outcome::kReply) send_on(reader, {});
    bytes.remove_prefix(reader.consumed());
  }
}

}  // namespace
}  // namespace sorrel::resp::testing

// The first two bytes select the limits and how the rest is split.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sorrel::resp;
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  ReplyLimits limits;
  limits.keep_alives = (data[0] & 1) != 0;
  if ((data[0] & 2) != 0) {
    limits = {.max_depth = 4, .max_bulk = 20, .max_line = 16, .max_elements = 16, .max_bytes = 100};
  }
  const size_t piece = std::max<size_t>(1, data[1] & 31);
  testing::read_all(bytes, limits);
  const auto whole = testing::read_in_pieces(bytes, std::max<size_t>(1, bytes.size()), limits);
  const auto pieces = testing::read_in_pieces(bytes, piece, limits);
  testing::require(whole == pieces);
  return 0;
}
