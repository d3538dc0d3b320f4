// A file may be truncated, damaged or hostile: every element is validated as it is read, and an
// error names its offset.

#include "rdb/file_reader.h"

#include <fmt/format.h>

#include <limits>

#include "base/crc.h"
#include "base/excerpt.h"
#include "base/numbers.h"
#include "rdb/read_parts.h"

namespace sorrel::rdb {
namespace {

// The checksum is computed in steps small enough that the bytes are still cached from reading.
constexpr uint64_t kSumBytes = 64 * 1024;

}  // namespace

std::string module_name(uint64_t id) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  constexpr unsigned kNameLetters = 9;
  std::string name(kNameLetters, ' ');
  id >>= 10;
  for (unsigned i = kNameLetters; i-- > 0; id >>= 6) name[i] = kLetters[id & 63];
  return name;
}

bool FileReader::recognises(std::string_view bytes) {
  return bytes.starts_with(kMagic) || bytes.starts_with(kValkeyMagic);
}

Status FileReader::problem(std::string_view what) {
  problem_offset_ = element_;
  if (!has_key_) return Error{fmt::format("offset {}: {}", element_, what)};
  problem_key_ = key_.name;
  return Error{fmt::format("offset {}: {} (key '{}', object type {})", element_, what,
                           excerpt(key_.name), key_.object_type)};
}

Status FileReader::placed(const Status& answer) {
  return answer ? answer : problem(answer.error().text);
}

Status FileReader::broken(std::string_view what) {
  if (const Error* error = in_.source_error()) {
    return problem(
        fmt::format("can't read on within {}, at byte {}: {}", what, in_.end(), error->text));
  }
  if (in_.ran_out()) {
    return problem(fmt::format("the file ends within {}, at byte {}", what, in_.end()));
  }
  return noticed(fmt::format("{} is damaged", what));
}

Status FileReader::noticed(std::string_view what) {
  return problem(fmt::format("{}, noticed at byte {}", what, in_.position()));
}

Status FileReader::read() {
  if (options_.verify_checksum) in_.start_sum();
  if (Status header = read_header(); !header) return header;
  for (;;) {
    element_ = in_.position();
    if (in_.unsummed() >= kSumBytes) in_.sum_up();
    const uint8_t first = in_.byte();
    if (in_.failed()) return broken("the list of elements");
    if (first == static_cast<uint8_t>(Opcode::kEnd)) break;
    if (Status element = read_element(first); !element) return element;
  }
  return read_checksum();
}

Status FileReader::read_header() {
  std::string_view header = in_.raw(kHeaderBytes);
  if (in_.failed()) return broken("its header");
  is_valkey_ = header.starts_with(kValkeyMagic);
  if (!recognises(header)) return problem("this is no RDB file: it begins with another signature");
  header.remove_prefix(is_valkey_ ? kValkeyMagic.size() : kMagic.size());
  int version = 0;
  for (const char digit : header) {
    if (digit < '0' || digit > '9') return problem("the version is no number");
    version = version * 10 + (digit - '0');
  }
  const bool known =
      is_valkey_ ? version == kValkeyVersion : version >= 1 && version <= kNewestVersion;
  if (!known) return problem(fmt::format("can't handle RDB format version {}", version));
  version_ = version;
  return visitor_.on_version(version);
}

Status FileReader::read_element(uint8_t first) {
  if (first < kFirstOpcode) return read_key(first);
  if (Status done = read_opcode(static_cast<Opcode>(first)); !done) return done;
  return in_.failed() ? broken(fmt::format("the element of opcode {}", first)) : Status{};
}

Status FileReader::read_opcode(Opcode opcode) {
  switch (opcode) {
    case Opcode::kExpiryMs:
      note_begin();
      key_.expiry = in_.little_endian<int64_t>();
      // A negative expire time is in the past; -1 would mean none.
      if (key_.expiry < 0) key_.expiry = 0;
      return {};
    case Opcode::kExpirySeconds:
      note_begin();
      key_.expiry = std::max<int64_t>(0, in_.little_endian<int32_t>()) * 1000;
      return {};
    case Opcode::kIdle:
      note_begin();
      key_.idle_seconds = in_.length();
      return {};
    case Opcode::kFrequency:
      note_begin();
      key_.frequency = in_.byte();
      return {};
    case Opcode::kDatabase:
      key_.db = in_.length();
      return in_.failed() ? Status{} : placed(visitor_.on_database(key_.db));
    case Opcode::kSizes:
      return read_sizes();
    case Opcode::kAux:
      return read_aux();
    case Opcode::kFunction: {
      const std::string_view code = in_.string(scratch_);
      return in_.failed() ? Status{} : placed(visitor_.on_function(code));
    }
    case Opcode::kOldFunction:
      return problem("functions of a release candidate of Redis 7.0 are not supported");
    case Opcode::kModuleAux:
      return read_module_aux();
    case Opcode::kSlotInfo: {
      const uint64_t slot = in_.length();
      const uint64_t keys = in_.length();
      (void)in_.length();  // keys that expire
      return in_.failed() ? Status{} : visitor_.on_slot_info(slot, keys);
    }
    case Opcode::kSlotImport:
      return read_slot_import();
    case Opcode::kEnd:
      break;
  }
  return {};
}

Status FileReader::read_aux() {
  const std::string_view name = in_.string(name_scratch_);
  const std::string_view value = in_.string(scratch_);
  return in_.failed() ? Status{} : visitor_.on_aux(name, value);
}

Status FileReader::read_sizes() {
  const uint64_t keys = in_.length();
  const uint64_t expiring = in_.length();
  return in_.failed() ? Status{} : visitor_.on_sizes(keys, expiring);
}

// A name and ranges of slots that were being imported: ignored without a cluster.
Status FileReader::read_slot_import() {
  if (!is_valkey_) return problem("opcode 243 is unknown");
  (void)in_.string(scratch_);
  const uint64_t ranges = in_.count(2);
  for (uint64_t i = 0; i < ranges && !in_.failed(); i++) {
    (void)in_.length();
    (void)in_.length();
  }
  return {};
}

Status FileReader::read_module_aux() {
  const std::string name = module_name(in_.length());
  if (in_.length() != static_cast<uint64_t>(ModuleField::kUnsigned)) {
    if (in_.failed()) return {};
    return problem(fmt::format("the data of module '{}' does not say when it is for", name));
  }
  (void)in_.length();  // before the keys or after them
  while (!in_.failed()) {
    switch (static_cast<ModuleField>(in_.length())) {
      case ModuleField::kEnd:
        return in_.failed() ? Status{} : visitor_.on_module_aux(name);
      case ModuleField::kSigned:
      case ModuleField::kUnsigned:
        (void)in_.length();
        break;
      case ModuleField::kFloat:
        (void)in_.raw(sizeof(float));
        break;
      case ModuleField::kDouble:
        (void)in_.raw(sizeof(double));
        break;
      case ModuleField::kString:
        (void)in_.string(scratch_);
        break;
      default:
        return problem(fmt::format("the data of module '{}' has a field of unknown kind", name));
    }
  }
  return {};
}

Status FileReader::read_key(uint8_t object_type) {
  note_begin();
  key_.object_type = object_type;
  key_.offset = element_;
  key_.name = in_.string(name_scratch_);
  if (in_.failed()) return broken("the name of a key");
  has_key_ = true;
  Status done;
  if (object_type == static_cast<uint8_t>(ObjectType::kString)) {
    const std::string_view text = in_.string(scratch_);
    if (in_.failed()) return broken("a string");
    key_.end = in_.position();
    done = visitor_.on_string(key_, text);
  } else {
    done = read_collection(object_type);
  }
  if (!done) return done;
  has_key_ = false;
  const uint64_t db = key_.db;
  key_ = {};
  key_.db = db;
  return {};
}

Status FileReader::read_collection(uint8_t object_type) {
  const Dialect dialect = is_valkey_ ? Dialect::kValkey : Dialect::kRedis;
  std::optional<Value> value = read_value(object_type, in_, options_.limits, dialect);
  key_.end = in_.position();
  if (value) return visitor_.on_collection(key_, *value);
  if (!in_.failed() && in_.take_empty()) return visitor_.on_empty(key_);
  return in_.ran_out() ? broken("a value") : noticed(damage_text(object_type, in_));
}

// Without a checksum the end is not verified, so nothing may follow it. Versions before checksums
// never have trailing bytes, because AOFs begin with an RDB file only since much later: otherwise a
// damaged version number would hide all other damage.
Status FileReader::check_end() {
  if (version_ >= kVersionOfChecksum && !options_.stands_alone) return {};
  if (!in_.has_more()) {
    return in_.source_error() == nullptr ? Status{} : broken("what follows the end of the file");
  }
  const std::string count = in_.knows_end() ? fmt::format("{} ", in_.left()) : std::string();
  return problem(fmt::format("{}bytes follow the end of a file without a checksum (version {})",
                             count, version_));
}

Status FileReader::read_checksum() {
  const uint64_t its_sum = in_.sum_up();
  element_ = in_.position();
  if (version_ < kVersionOfChecksum) return check_end();
  const auto sum = in_.little_endian<uint64_t>();
  if (in_.failed()) return broken("its checksum");
  // Zero: the file was written without a checksum (rdbchecksum no).
  if (sum == 0) return check_end();
  if (!options_.verify_checksum) return {};
  if (sum != its_sum) {
    is_sum_wrong_ = true;
    return problem(
        fmt::format("RDB CRC error: the checksum in the file is {:016x}, its bytes give {:016x}",
                    sum, its_sum));
  }
  verified_ = true;
  return {};
}

}  // namespace sorrel::rdb
