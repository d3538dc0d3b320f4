#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rdb/file_format.h"
#include "rdb/reader.h"
#include "rdb/value.h"

namespace sorrel::rdb {

// A key and its metadata. Views are valid during the call that passes them.
struct FileKey {
  std::string_view name;
  uint64_t db = 0;
  int64_t expiry = kNoExpiry;            // absolute milliseconds
  std::optional<uint64_t> idle_seconds;  // since its last access
  std::optional<uint8_t> frequency;      // its LFU counter
  uint8_t object_type = 0;
  uint64_t begin = 0;   // start of its first element: its expire time, or its object type
  uint64_t offset = 0;  // start of its object type
  uint64_t end = 0;     // end of its value
};

// Gets the content of a file, in the order of the file. Returning an Error ends the reading with
// that text.
class FileVisitor {
 public:
  virtual ~FileVisitor() = default;

  virtual Status on_version(int /*version*/) { return {}; }
  virtual Status on_aux(std::string_view /*name*/, std::string_view /*value*/) { return {}; }
  virtual Status on_function(std::string_view /*code*/) { return {}; }
  // Data of a module that is not loaded; it is skipped.
  virtual Status on_module_aux(std::string_view /*module*/) { return {}; }
  virtual Status on_database(uint64_t /*db*/) { return {}; }
  virtual Status on_sizes(uint64_t /*keys*/, uint64_t /*expiring*/) { return {}; }
  virtual Status on_slot_info(uint64_t /*slot*/, uint64_t /*keys*/) { return {}; }

  virtual Status on_string(const FileKey& key, std::string_view text) = 0;
  virtual Status on_collection(const FileKey& key, Value& value) = 0;
  // A collection without elements, which old bugs have left in files. It makes no key.
  virtual Status on_empty(const FileKey& /*key*/) { return {}; }
};

struct FileReadOptions {
  ValueLimits limits;
  bool verify_checksum = true;
  // Nothing follows the file, unlike the RDB preamble of an AOF. Then a file that says it has no
  // checksum must end where its bytes do.
  bool stands_alone = false;
};

// Reads a whole file of the RDB format: versions 1 to 12 of Redis, and Valkey's 80. The bytes are
// untrusted; see Reader. Needs no keyspace.
//
// A source gives the same result as bytes in memory. Memory: one value, and one segment of the
// source. When the size is not known beforehand, an excessive length or count is detected only when
// the bytes run out.
class FileReader {
 public:
  FileReader(std::string_view bytes, const FileReadOptions& options, FileVisitor& visitor)
      : in_(bytes), options_(options), visitor_(visitor) {}
  // The source must outlive the reader.
  FileReader(ByteSource& source, const FileReadOptions& options, FileVisitor& visitor)
      : refill_(source), in_(*refill_), options_(options), visitor_(visitor) {}
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  // The Error gives the offset: "offset 123: ...".
  Status read();

  int version() const { return version_; }
  bool is_valkey() const { return is_valkey_; }
  // The current offset. After success: the size of the file; later bytes are not read.
  uint64_t position() const { return in_.position(); }
  // After an error: the start of the invalid element, and its key if it has one.
  uint64_t problem_offset() const { return problem_offset_; }
  const std::string& problem_key() const { return problem_key_; }
  // The file has a checksum, and it was correct.
  bool verified() const { return verified_; }
  // After an error: only the checksum was wrong.
  bool is_sum_wrong() const { return is_sum_wrong_; }

  // Do the bytes begin like an RDB file?
  static bool recognises(std::string_view bytes);

 private:
  Status read_header();
  Status read_element(uint8_t first);
  Status read_opcode(Opcode opcode);
  Status read_aux();
  Status read_sizes();
  Status read_slot_import();
  Status read_module_aux();
  Status read_key(uint8_t object_type);
  // The current element is the first of the next key.
  void note_begin() {
    if (key_.begin == 0) key_.begin = element_;
  }
  Status read_collection(uint8_t object_type);
  Status read_checksum();
  Status check_end();
  Status problem(std::string_view what);
  // Returns the visitor's result; an Error gets the offset.
  Status placed(const Status& answer);
  // The reader's latched error as text: the end came too soon, or the bytes are invalid.
  Status broken(std::string_view what);
  Status noticed(std::string_view what);

  std::optional<Reader::Refill> refill_;
  Reader in_;
  const FileReadOptions& options_;
  FileVisitor& visitor_;
  int version_ = 0;
  bool is_valkey_ = false;
  bool verified_ = false;
  bool is_sum_wrong_ = false;
  FileKey key_;  // the next key
  bool has_key_ = false;
  uint64_t element_ = 0;  // start of the current element
  std::string name_scratch_;
  std::string scratch_;
  uint64_t problem_offset_ = 0;
  std::string problem_key_;
};

// Decodes the name of a module's type from its number.
std::string module_name(uint64_t id);

}  // namespace sorrel::rdb
