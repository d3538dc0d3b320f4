// Error texts for damaged values.

#include <fmt/format.h>

#include "rdb/file_reader.h"
#include "rdb/read_parts.h"

namespace sorrel::rdb {
namespace {

// The encoding in which a value is packed.
std::string_view form_of(ObjectType type) {
  switch (type) {
    case ObjectType::kHashZipmap:
      return "Zipmap";
    case ObjectType::kListZiplist:
    case ObjectType::kListQuicklist:
      return "Ziplist";
    case ObjectType::kSetIntset:
      return "Intset";
    case ObjectType::kZsetZiplist:
      return "Zset ziplist";
    case ObjectType::kHashZiplist:
      return "Hash ziplist";
    case ObjectType::kHashListpack:
    case ObjectType::kTimedHashListpack:
    case ObjectType::kTimedHashListpackBare:
      return "Hash listpack";
    case ObjectType::kZsetListpack:
      return "Zset listpack";
    case ObjectType::kListQuicklist2:
      return "Listpack";
    case ObjectType::kSetListpack:
      return "Set listpack";
    case ObjectType::kStream1:
    case ObjectType::kStream2:
    case ObjectType::kStream3:
      return "Stream listpack";
    default:
      return "Value";
  }
}

}  // namespace

// "with dup elements" is Redis's text, which users search for.
std::string_view duplicate_flaw(ObjectType type) {
  switch (type) {
    case ObjectType::kHashZipmap:
      return "zipmap with dup elements";
    case ObjectType::kHashZiplist:
    case ObjectType::kZsetZiplist:
      return "ziplist with dup elements";
    case ObjectType::kHashListpack:
    case ObjectType::kTimedHashListpack:
    case ObjectType::kTimedHashListpackBare:
    case ObjectType::kZsetListpack:
    case ObjectType::kSetListpack:
      return "listpack with dup elements";
    default:
      return "dup elements";
  }
}

std::string damage_text(uint8_t object_type, const Reader& in) {
  if (in.module() != 0) {
    return fmt::format(
        "The RDB file contains module data I can't load: no matching module type '{}'",
        module_name(in.module()));
  }
  std::string text(form_of(static_cast<ObjectType>(object_type)));
  text += " integrity check failed";
  if (!in.flaw().empty()) text.append(": ").append(in.flaw());
  return text;
}

}  // namespace sorrel::rdb
