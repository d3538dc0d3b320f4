#include "persist/aof_reader.h"

#include <fmt/format.h>

#include "base/numbers.h"

namespace sorrel::persist {
namespace {

// Longer than any count or length that could be meant.
constexpr size_t kMaxDigits = 18;
constexpr size_t kMaxNote = 1024;
constexpr std::string_view kTimestampMark = "#TS:";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

AofReader::Found AofReader::next() {
  if (position_ >= bytes_.size()) return Found::kEnd;
  const bool is_note = bytes_[position_] == '#';
  switch (is_note ? read_note() : read_command()) {
    case Step::kTorn:
      return Found::kTorn;
    case Step::kDamaged:
      return Found::kDamaged;
    case Step::kOk:
      break;
  }
  return is_note ? Found::kTimestamp : Found::kCommand;
}

AofReader::Step AofReader::torn(uint64_t at) {
  if (looks_behind_ && goes_on()) {
    problem_offset_ = position_;
    problem_ = fmt::format(
        "offset {}: a command that would reach beyond the end of the file, and whole commands "
        "behind it",
        position_);
    return Step::kDamaged;
  }
  problem_offset_ = at;
  problem_ = fmt::format("offset {}: the file ends in the middle of a command", at);
  return Step::kTorn;
}

bool AofReader::goes_on() const {
  constexpr std::string_view kNext = "\r\n*";
  // Enough to find them behind one command that is damaged; hostile bytes do not get more.
  uint64_t budget = 4 * (bytes_.size() - position_);
  for (size_t at = bytes_.find(kNext, position_); at != std::string_view::npos;
       at = bytes_.find(kNext, at + 1)) {
    const uint64_t begin = at + kNext.size() - 1;
    AofReader behind(bytes_, begin);
    behind.looks_behind_ = false;
    Found found = behind.next();
    while (found == Found::kCommand || found == Found::kTimestamp) {
      if (behind.position() - begin > budget) return false;
      found = behind.next();
    }
    if (found == Found::kEnd) return true;
    const uint64_t read = std::max(behind.position(), behind.problem_offset()) - begin;
    if (read >= budget) return false;
    budget -= read;
  }
  return false;
}

AofReader::Step AofReader::damaged(uint64_t at, std::string_view what) {
  // Room that was never written to.
  if (bytes_.find_first_not_of('\0', at) == std::string_view::npos) return torn(at);
  problem_offset_ = at;
  problem_ = fmt::format("offset {}: {}", at, what);
  return Step::kDamaged;
}

AofReader::Step AofReader::read_number(uint64_t& at, char mark, uint64_t& number) {
  const uint64_t begin = at;
  if (at >= bytes_.size()) return torn(at);
  if (bytes_[at] != mark) return damaged(at, fmt::format("'{}' was expected", mark));
  at++;
  size_t digits = 0;
  number = 0;
  for (; at < bytes_.size() && is_digit(bytes_[at]); at++) {
    if (++digits > kMaxDigits) return damaged(begin, "this number is too long");
    number = number * 10 + static_cast<uint64_t>(bytes_[at] - '0');
  }
  if (at >= bytes_.size()) return torn(at);
  if (digits == 0) return damaged(at, "a number was expected");
  if (bytes_[at] != '\r') return damaged(at, "the number is not followed by the end of its line");
  if (++at >= bytes_.size()) return torn(at);
  if (bytes_[at] != '\n') return damaged(at, "the number is not followed by the end of its line");
  at++;
  return Step::kOk;
}

AofReader::Step AofReader::read_argument(uint64_t& at) {
  uint64_t length = 0;
  if (const Step step = read_number(at, '$', length); step != Step::kOk) return step;
  const uint64_t left = bytes_.size() - at;
  if (length > left) return torn(at);
  args_.push_back(bytes_.substr(at, length));
  at += length;
  for (const char end : {'\r', '\n'}) {
    if (at >= bytes_.size()) return torn(at);
    if (bytes_[at] != end) return damaged(at, "the argument is longer than it should be");
    at++;
  }
  return Step::kOk;
}

AofReader::Step AofReader::read_command() {
  args_.clear();
  uint64_t at = position_;
  uint64_t count = 0;
  if (const Step step = read_number(at, '*', count); step != Step::kOk) return step;
  if (count == 0) return damaged(position_, "a command without a name");
  for (uint64_t i = 0; i < count; i++) {
    if (const Step step = read_argument(at); step != Step::kOk) return step;
  }
  position_ = at;
  lines_ += 1 + 2 * count;
  return Step::kOk;
}

AofReader::Step AofReader::read_note() {
  const std::string_view line = bytes_.substr(position_, kMaxNote);
  const size_t end = line.find('\n');
  if (end == std::string_view::npos) {
    if (line.size() < kMaxNote) return torn(bytes_.size());
    return damaged(position_, "this note has no end");
  }
  if (line.starts_with(kTimestampMark)) {
    std::string_view text = line.substr(kTimestampMark.size(), end - kTimestampMark.size());
    if (text.ends_with('\r')) text.remove_suffix(1);
    const auto seconds = parse_int64(text);
    if (!seconds || *seconds < 0) return damaged(position_, "a timestamp that is no number");
    timestamp_ = *seconds;
  }
  position_ += end + 1;
  lines_++;
  return Step::kOk;
}

}  // namespace sorrel::persist
