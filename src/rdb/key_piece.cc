#include "rdb/key_piece.h"

#include <utility>

#include "rdb/file_format.h"
#include "types/collection.h"
#include "types/string.h"

namespace sorrel::rdb {
namespace {

void opcode(Opcode opcode, Writer& writer) {
  writer.byte(static_cast<uint8_t>(opcode));
}

}  // namespace

void write_key(const Record& record, const KeyUse& use, WriteOptions& options, Writer& writer,
               std::string& out) {
  if (record.has_expiry()) {
    opcode(Opcode::kExpiryMs, writer);
    writer.little_endian(record.expiry());
  }
  if (use.idle_seconds) {
    opcode(Opcode::kIdle, writer);
    writer.length(*use.idle_seconds);
  }
  if (use.frequency) {
    opcode(Opcode::kFrequency, writer);
    writer.byte(*use.frequency);
  }
  const std::string_view name = record.key();
  if (record.type() != Type::kString) {
    options.key = &name;
    write_collection(record.type(), collection_of(record), options, out);
    return;
  }
  writer.byte(static_cast<uint8_t>(ObjectType::kString));
  writer.string(name);
  if (record.encoding() == Encoding::kInt) {
    writer.integer_string(RecordArena::integer(&record));
  } else {
    IntegerText scratch;
    writer.string(string_bytes(record, scratch));
  }
}

PieceWriter::PieceWriter(const WriteOptions& options)
    : options_(options), writer_(piece_.bytes, options.compress, nullptr, &piece_.plain) {
  options_.plain = &piece_.plain;
}

void PieceWriter::key(int db, const Record& record, const KeyUse& use) {
  if (db != db_) {
    opcode(Opcode::kDatabase, writer_);
    writer_.length(static_cast<uint64_t>(db));
    db_ = db;
  }
  write_key(record, use, options_, writer_, piece_.bytes);
  piece_.keys++;
}

KeyPiece PieceWriter::take() {
  db_ = -1;
  return std::exchange(piece_, {});
}

}  // namespace sorrel::rdb
