#include "rdb/file_writer.h"

#include <fmt/format.h>

#include "base/crc.h"

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
  write_key(record, use, options_, writer_, buffer_);
}

void FileWriter::piece(const KeyPiece& piece) {
  const std::string_view bytes = piece.bytes;
  size_t done = 0;
  for (const Writer::Plain& plain : piece.plain) {
    writer_.raw(bytes.substr(done, plain.at - done));
    text(bytes.substr(plain.at, plain.size));
    done = plain.at + plain.size;
  }
  writer_.raw(bytes.substr(done));
  if (buffer_.size() > Writer::kSpillBytes) spill(buffer_);
}

Status FileWriter::end() {
  opcode(Opcode::kEnd);
  spill(buffer_);
  writer_.little_endian(checksum_ ? sum_ : uint64_t{0});
  spill(buffer_);
  return status_;
}

}  // namespace sorrel::rdb
