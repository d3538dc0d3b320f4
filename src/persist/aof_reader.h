#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sorrel::persist {

// Walks through the commands of a log that is there as a whole (mapped into memory):
//
//   *3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n      a command: arrays of bulk strings and nothing
//   else #TS:1628217470\r\n                              a note: when what follows happened
//
// The bytes may be anything. Arguments are views, and what a length announces is looked at before
// it is believed, so nothing is allocated for what is not there.
//
// A log that was being written when the machine stopped ends in the middle of something, or in
// zeros where a file system had made room already. That is kTorn, and is told from damage:
// everything up to position() is whole. A length that is damaged in the middle of a log looks like
// that at first, because it reaches beyond the end; but whole commands stand behind it then.
class AofReader {
 public:
  enum class Found : uint8_t { kCommand, kTimestamp, kEnd, kTorn, kDamaged };

  // Starts at `begin`: behind the RDB part of a log that has one.
  explicit AofReader(std::string_view bytes, uint64_t begin = 0)
      : bytes_(bytes), position_(begin) {}

  // The next one. After kEnd, kTorn and kDamaged it says the same again.
  Found next();

  // After kCommand: at least one; valid until the next call.
  std::span<const std::string_view> args() const { return args_; }
  // The last one that was seen, in seconds since 1970; 0: none yet.
  int64_t timestamp() const { return timestamp_; }

  // Behind the last whole command or note, and how many lines end there.
  uint64_t position() const { return position_; }
  uint64_t lines() const { return lines_; }
  // After kTorn and kDamaged: what is wrong where, "offset 123: ...".
  const std::string& problem() const { return problem_; }
  uint64_t problem_offset() const { return problem_offset_; }

 private:
  enum class Step : uint8_t { kOk, kTorn, kDamaged };

  Step read_command();
  Step read_note();
  // A line of `mark` and a number.
  Step read_number(uint64_t& at, char mark, uint64_t& number);
  Step read_argument(uint64_t& at);
  Step torn(uint64_t at);
  Step damaged(uint64_t at, std::string_view what);
  // Does the file go on somewhere behind position() with commands, up to its end?
  bool goes_on() const;

  std::string_view bytes_;
  uint64_t position_;
  bool looks_behind_ = true;  // at what stands behind a command that is torn
  uint64_t lines_ = 0;
  int64_t timestamp_ = 0;
  std::vector<std::string_view> args_;
  std::string problem_;
  uint64_t problem_offset_ = 0;
};

}  // namespace sorrel::persist
