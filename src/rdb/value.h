#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rdb/format.h"
#include "rdb/reader.h"
#include "rdb/writer.h"
#include "types/collection.h"
#include "types/hash.h"
#include "types/list.h"
#include "types/set.h"
#include "types/zset.h"

namespace sorrel::rdb {

// Values as bytes of the RDB object format, and back.

// What decides how a value that was read is kept.
struct ValueLimits {
  ListLimits list;
  SetLimits set;
  HashLimits hash;
  ZsetLimits zset;
};

// A value that no key holds yet: a string, or a collection that is freed with it unless somebody
// takes it over.
class Value {
 public:
  // An empty collection of that type.
  explicit Value(Type type);
  Value(Type type, const Collection& collection);
  // A text that lies elsewhere and stays there, or one of its own.
  explicit Value(std::string_view text) : type_(Type::kString), text_(text) {}
  explicit Value(std::string&& text) : type_(Type::kString), owned_(std::move(text)) {}
  ~Value();
  Value(Value&& other) noexcept;
  Value& operator=(Value&&) = delete;

  Type type() const { return type_; }
  // Precondition: a string.
  std::string_view text() const { return owned_ ? std::string_view(*owned_) : text_; }
  // Precondition: a collection.
  Collection& collection() { return collection_; }
  const Collection& collection() const { return collection_; }
  // The caller owns it from now on.
  Collection release();

 private:
  Type type_;
  std::string_view text_;
  std::optional<std::string> owned_;
  Collection collection_{};
};

// Object types beyond those of Redis 7.2 mean something else in Valkey.
enum class Dialect : uint8_t { kRedis, kValkey };

// Reads what stands behind the byte that says the type. Every byte is looked at and every relation
// between them is checked; elements go into the value one by one, as if a client had sent them.
// nullopt: the type is unknown or something is wrong with the bytes, and nothing is left of what
// was read. What follows the value in `in` is for the caller to judge.
std::optional<Value> read_value(uint8_t object_type, Reader& in, const ValueLimits& limits,
                                Dialect dialect = Dialect::kRedis);
// What to tell people of a value of that type which `in` was read for and which is damaged: what it
// is packed as, and what is wrong with it where that is known.
std::string damage_text(uint8_t object_type, const Reader& in);

struct WriteOptions {
  int version = kCompatibleVersion;  // only types that a reader of this version knows
  bool compress = true;              // rdbcompression
  // For files: the key to write behind the byte that says the type, and who takes bytes away.
  const std::string_view* key = nullptr;
  Writer::Spill* spill = nullptr;
  std::vector<Writer::Plain>* plain = nullptr;  // see Writer
};

// Appends the byte that says the type, and the value.
void write_string(std::string_view text, const WriteOptions& options, std::string& out);
// The version that what write_collection() makes of this value belongs to, if `wanted` is asked
// for: some values have no older form.
int version_for(Type type, const Collection& value, int wanted);
// Precondition: not empty, but for streams.
void write_collection(Type type, const Collection& value, const WriteOptions& options,
                      std::string& out);

}  // namespace sorrel::rdb
