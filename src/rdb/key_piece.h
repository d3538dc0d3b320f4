#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rdb/value.h"
#include "rdb/writer.h"
#include "types/record.h"

namespace sorrel::rdb {

// When or how often a key was used, if the file is to contain it.
struct KeyUse {
  std::optional<uint64_t> idle_seconds;
  std::optional<uint8_t> frequency;
};

// Appends one key with its metadata to `out`, which `writer` writes to. `options` are those of a
// file; their key is set here.
void write_key(const Record& record, const KeyUse& use, WriteOptions& options, Writer& writer,
               std::string& out);

// Some keys of a file, with the numbers of their databases between them, serialized by a thread
// that must not take long: long strings are still to be compressed.
struct KeyPiece {
  std::string bytes;
  std::vector<Writer::Plain> plain;  // ascending
  uint64_t keys = 0;

  // Keeps the capacity.
  void clear() {
    bytes.clear();
    plain.clear();
    keys = 0;
  }
};

class PieceWriter {
 public:
  explicit PieceWriter(const WriteOptions& options);
  PieceWriter(const PieceWriter&) = delete;
  PieceWriter& operator=(const PieceWriter&) = delete;

  void key(int db, const Record& record, const KeyUse& use);
  size_t size() const { return piece_.bytes.size(); }
  // Returns the keys so far; the next key begins another piece.
  KeyPiece take();
  // Reuses the capacity of an empty piece. Only right after take().
  void use(KeyPiece room) { piece_ = std::move(room); }

 private:
  KeyPiece piece_;
  WriteOptions options_;
  Writer writer_;
  int db_ = -1;  // the last database number written
};

}  // namespace sorrel::rdb
