#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rdb/file_format.h"
#include "rdb/key_piece.h"
#include "rdb/value.h"
#include "rdb/writer.h"
#include "types/record.h"

namespace sorrel::rdb {

// The destination of a file's bytes: a file, a pipe, a test.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual Status write(std::string_view bytes) = 0;
};

// Writes a whole file of the RDB format, element by element, in this order:
//
//   FileWriter file(sink, {.version = 11}, true);
//   file.begin();
//   file.aux("redis-ver", "7.2.4");  file.function(code);
//   file.database(0, keys, expiring);  file.key(record, {});  ...
//   Status written = file.end();
//
// It buffers a bounded number of bytes, whatever the size of the values. The first error of the
// sink is kept: nothing is written from then on, and end() returns it.
class FileWriter final : private Writer::Spill {
 public:
  // `options.version` must be able to represent all values to come; see version_for(). Without
  // `checksum` the checksum is zero, which readers take for none.
  FileWriter(ByteSink& sink, const WriteOptions& options, bool checksum);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void begin();
  void aux(std::string_view name, std::string_view value);
  void function(std::string_view code);
  void database(int db, uint64_t keys, uint64_t expiring);
  void key(const Record& record, const KeyUse& use);
  // Keys serialized earlier, see KeyPiece.
  void piece(const KeyPiece& piece);
  Status end();

  bool failed() const { return !status_.ok(); }
  const Status& status() const { return status_; }
  // The number of bytes so far, buffered ones included.
  uint64_t size() const { return flushed_ + buffer_.size(); }

 private:
  void spill(std::string& bytes) override;
  void opcode(Opcode opcode) { writer_.byte(static_cast<uint8_t>(opcode)); }
  void text(std::string_view text) { writer_.string(text); }

  ByteSink& sink_;
  WriteOptions options_;
  bool checksum_;
  std::string buffer_;
  Writer writer_;
  uint64_t sum_ = 0;
  uint64_t flushed_ = 0;
  Status status_;
};

}  // namespace sorrel::rdb
