#pragma once

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "resp/output_buffer.h"
#include "resp/reply_reader.h"
#include "resp/reply_writer.h"

// For tests: reads replies from bytes split at any positions, and shows them as text.
namespace sorrel::resp::testing {

inline std::string encoded(const Reply& reply, int protocol) {
  OutputBuffer out;
  ReplyWriter writer(out, protocol);
  send_reply(reply, writer);
  return std::string(out.view());
}

inline std::string leaf_text(const Reply& reply) {
  switch (reply.type()) {
    case ReplyType::kInteger:
      return "int " + std::to_string(reply.integer());
    case ReplyType::kBoolean:
      return reply.boolean() ? "true" : "false";
    case ReplyType::kNull:
      return "null";
    case ReplyType::kNullArray:
      return "null array";
    case ReplyType::kSimple:
      return "simple " + std::string(reply.text());
    case ReplyType::kError:
      return "error " + std::string(reply.text());
    case ReplyType::kBulkError:
      return "bulk error " + std::string(reply.text());
    case ReplyType::kBulk:
      return "bulk " + std::string(reply.text());
    case ReplyType::kDouble:
      return "double " + std::string(reply.text());
    case ReplyType::kBigNumber:
      return "big " + std::string(reply.text());
    case ReplyType::kVerbatim:
      return std::string(reply.format()) + " " + std::string(reply.text());
    case ReplyType::kArray:
      return "array";
    case ReplyType::kSet:
      return "set";
    case ReplyType::kPush:
      return "push";
    case ReplyType::kMap:
      return "map";
    case ReplyType::kAttribute:
      return "attribute";
  }
  return "?";
}

// "array(int 1, map(simple k, simple v))"; attributes in braces before their element. Not
// recursive, so that deeply nested replies do not overflow the stack.
inline std::string described(const Reply& reply) {
  struct Level {
    Reply::Iterator at;
    Reply::Iterator end;
  };
  std::string text;
  std::vector<Level> levels;
  const auto enter = [&](const Reply& element) {
    if (const auto attribute = element.attribute()) {
      text += "{";
      for (auto at = attribute->begin(); at != attribute->end(); ++at) {
        text += leaf_text(*at) + ";";
      }
      text += "}";
    }
    text += leaf_text(element);
    if (!element.is_aggregate()) return;
    text += "(";
    levels.push_back({element.begin(), element.end()});
  };
  enter(reply);
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.at == level.end) {
      if (text.ends_with(", ")) text.resize(text.size() - 2);
      text += ')';
      levels.pop_back();
      if (!levels.empty()) text += ", ";
      continue;
    }
    const Reply element = *level.at;
    ++level.at;
    const size_t depth = levels.size();
    enter(element);
    if (levels.size() == depth) text += ", ";
  }
  return text;
}

// The replies read from bytes that arrive `piece` at a time: a line for each reply and its
// re-encoding, and the error at the end, if any.
inline std::vector<std::string> read_in_pieces(std::string_view bytes, size_t piece,
                                               const ReplyLimits& limits = {}) {
  std::vector<std::string> seen;
  ReplyReader reader(limits);
  std::string held;
  uint64_t used = 0;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    held += bytes.substr(at, piece);
    for (;;) {
      // An exact allocation, so that AddressSanitizer detects reads beyond the end.
      const std::vector<char> exact(held.begin(), held.end());
      const std::string_view view(exact.data(), exact.size());
      const ReplyReader::Outcome outcome = reader.next(view);
      if (outcome == ReplyReader::Outcome::kNeedMore) break;
      if (outcome == ReplyReader::Outcome::kError) {
        seen.push_back(std::to_string(used) + ": " + reader.error());
        return seen;
      }
      if (outcome == ReplyReader::Outcome::kReply) {
        seen.push_back(described(reader.reply()) + " as " + encoded(reader.reply(), 3));
        if (reader.reply().bytes() != view.substr(0, reader.consumed())) std::abort();
      }
      used += reader.consumed();
      held.erase(0, reader.consumed());
    }
  }
  seen.push_back(held.empty() ? "end" : "unfinished");
  return seen;
}

}  // namespace sorrel::resp::testing
