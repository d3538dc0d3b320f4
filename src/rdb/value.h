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

// Converts values to and from bytes of the RDB object format.

// The limits that choose the encoding of a value that is read.
struct ValueLimits {
  ListLimits list;
  SetLimits set;
  HashLimits hash;
  ZsetLimits zset;
};

// A value without a key: a string, or a collection that is freed with it unless its ownership is
// released.
class Value {
 public:
  // An empty collection of that type.
  explicit Value(Type type);
  Value(Type type, const Collection& collection);
  // A text that is stored elsewhere and must stay there, or one of its own.
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
  // Releases ownership to the caller.
  Collection release();

 private:
  Type type_;
  std::string_view text_;
  std::optional<std::string> owned_;
  Collection collection_{};
};

// Object types beyond those of Redis 7.2 have other meanings in Valkey.
enum class Dialect : uint8_t { kRedis, kValkey };

// Reads the content after the object type. Every byte and every relation between them is validated;
// elements are added to the value one by one, as if a client had sent them. nullopt: the type is
// unknown or the bytes are invalid, and nothing that was read is left. The caller checks the bytes
// of `in` after the value.
std::optional<Value> read_value(uint8_t object_type, Reader& in, const ValueLimits& limits,
                                Dialect dialect = Dialect::kRedis);
// The error text for a damaged value of that type, which `in` was read for: its encoding, and the
// reason where it is known.
std::string damage_text(uint8_t object_type, const Reader& in);

struct WriteOptions {
  int version = kCompatibleVersion;  // only types that a reader of this version supports
  bool compress = true;              // rdbcompression
  // For files: the key to write after the object type, and the receiver of full buffers.
  const std::string_view* key = nullptr;
  Writer::Spill* spill = nullptr;
  std::vector<Writer::Plain>* plain = nullptr;  // see Writer
};

// Appends the object type and the value.
void write_string(std::string_view text, const WriteOptions& options, std::string& out);
// The version that this value requires when `wanted` is requested: some values have no older
// encoding.
int version_for(Type type, const Collection& value, int wanted);
// Precondition: not empty, except for streams.
void write_collection(Type type, const Collection& value, const WriteOptions& options,
                      std::string& out);

}  // namespace sorrel::rdb
