#include "rdb/file_writer.h"

#include <fmt/format.h>

#include "base/crc.h"
#include "types/collection.h"
#include "types/string.h"

namespace sorrel::rdb {

FileWriter::FileWriter(ByteSink& sink, const WriteOptions& options, bool checksum)
    : sink_(sink),
      options_(options),
      checksum_(checksum),
      writer_(buffer_, options.compress, this) {
  options_.spill = this;
  buffer_.reserve(2 * Writer::kSpillBytes);
}

void FileWriter::spill(std::string& bytes) {
  if (status_.ok()) {
    if (checksum_) sum_ = crc64(sum_, bytes);
    status_ = sink_.write(bytes);
  }
  flushed_ += bytes.size();
  bytes.clear();
}

void FileWriter::begin() {
  writer_.raw(fmt::format("{}{:04}", kMagic, options_.version));
}

void FileWriter::aux(std::string_view name, std::string_view value) {
  opcode(Opcode::kAux);
  text(name);
  text(value);
}

void FileWriter::function(std::string_view code) {
  opcode(Opcode::kFunction);
  text(code);
}

void FileWriter::database(int db, uint64_t keys, uint64_t expiring) {
  opcode(Opcode::kDatabase);
  writer_.length(static_cast<uint64_t>(db));
  opcode(Opcode::kSizes);
  writer_.length(keys);
  writer_.length(expiring);
}

void FileWriter::key(const Record& record, const KeyUse& use) {
  if (record.has_expiry()) {
    opcode(Opcode::kExpiryMs);
    writer_.little_endian(record.expiry());
  }
  if (use.idle_seconds) {
    opcode(Opcode::kIdle);
    writer_.length(*use.idle_seconds);
  }
  if (use.frequency) {
    opcode(Opcode::kFrequency);
    writer_.byte(*use.frequency);
  }
  const std::string_view name = record.key();
  if (record.type() != Type::kString) {
    options_.key = &name;
    write_collection(record.type(), collection_of(record), options_, buffer_);
    return;
  }
  writer_.byte(static_cast<uint8_t>(ObjectType::kString));
  text(name);
  if (record.encoding() == Encoding::kInt) {
    writer_.integer_string(RecordArena::integer(&record));
  } else {
    IntegerText scratch;
    text(string_bytes(record, scratch));
  }
}

Status FileWriter::end() {
  opcode(Opcode::kEnd);
  spill(buffer_);
  writer_.little_endian(checksum_ ? sum_ : uint64_t{0});
  spill(buffer_);
  return status_;
}

}  // namespace sorrel::rdb
