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

// A key and what stands before it. Views are valid during the call that hands it out.
struct FileKey {
  std::string_view name;
  uint64_t db = 0;
  int64_t expiry = kNoExpiry;            // absolute milliseconds
  std::optional<uint64_t> idle_seconds;  // since its last use
  std::optional<uint8_t> frequency;      // of its use, as LFU counts
  uint8_t object_type = 0;
  uint64_t begin = 0;   // where what belongs to it begins: its deadline, or its object type
  uint64_t offset = 0;  // where its object type stands
  uint64_t end = 0;     // where its value ends
};

// Who is told what a file holds, in the order of the file. An Error ends the reading; its text is
// the reason.
class FileVisitor {
 public:
  virtual ~FileVisitor() = default;

  virtual Status on_version(int /*version*/) { return {}; }
  virtual Status on_aux(std::string_view /*name*/, std::string_view /*value*/) { return {}; }
  virtual Status on_function(std::string_view /*code*/) { return {}; }
  // Data of a module that is not loaded; it has been passed over.
  virtual Status on_module_aux(std::string_view /*module*/) { return {}; }
  virtual Status on_database(uint64_t /*db*/) { return {}; }
  virtual Status on_sizes(uint64_t /*keys*/, uint64_t /*expiring*/) { return {}; }
  virtual Status on_slot_info(uint64_t /*slot*/, uint64_t /*keys*/) { return {}; }

  virtual Status on_string(const FileKey& key, std::string_view text) = 0;
  virtual Status on_collection(const FileKey& key, Value& value) = 0;
  // A collection without elements, which old bugs have left in files. It is none.
  virtual Status on_empty(const FileKey& /*key*/) { return {}; }
};

struct FileReadOptions {
  ValueLimits limits;
  bool verify_checksum = true;
  // Nothing follows the file, as the tail of an old log may. Then one that says it was written
  // without a sum has to end where its bytes do.
  bool stands_alone = false;
};

// Reads a whole file of the RDB format: versions 1 to 12 of Redis, and Valkey's 80. The bytes may
// be anything; see Reader. Needs no keyspace.
//
// From a source it reads as from bytes that are all there, and judges the same. Memory: a value,
// and a piece of the source. Where the size is not known beforehand, a length or count that is too
// large is noticed only when the bytes run out.
class FileReader {
 public:
  FileReader(std::string_view bytes, const FileReadOptions& options, FileVisitor& visitor)
      : in_(bytes), options_(options), visitor_(visitor) {}
  // The source outlives it.
  FileReader(ByteSource& source, const FileReadOptions& options, FileVisitor& visitor)
      : refill_(source), in_(*refill_), options_(options), visitor_(visitor) {}
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  // The Error says at which offset what is wrong: "offset 123: ...".
  Status read();

  int version() const { return version_; }
  bool is_valkey() const { return is_valkey_; }
  // Where it stands. After a success: the size of the file; what follows is for others.
  uint64_t position() const { return in_.position(); }
  // After a failure: where the element begins that is wrong, and its key if it has one.
  uint64_t problem_offset() const { return problem_offset_; }
  const std::string& problem_key() const { return problem_key_; }
  // The file has a sum and it was right.
  bool verified() const { return verified_; }
  // After a problem: it is the checksum, and nothing else.
  bool is_sum_wrong() const { return is_sum_wrong_; }

  // Does it begin as such a file does?
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
  // The element that is read is the first of the next key.
  void note_begin() {
    if (key_.begin == 0) key_.begin = element_;
  }
  Status read_collection(uint8_t object_type);
  Status read_checksum();
  Status check_end();
  Status problem(std::string_view what);
  // What the visitor answered; an Error gets the offset.
  Status placed(const Status& answer);
  // What the reader latched, in words: the end came too soon, or the bytes are wrong.
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
  FileKey key_;  // the next one
  bool has_key_ = false;
  uint64_t element_ = 0;  // where the one that is read begins
  std::string name_scratch_;
  std::string scratch_;
  uint64_t problem_offset_ = 0;
  std::string problem_key_;
};

// The name of a module's type, out of its number.
std::string module_name(uint64_t id);

}  // namespace sorrel::rdb
