#pragma once

#include <optional>
#include <string_view>

#include "types/record.h"

namespace sorrel {

// "string", "list", ... as TYPE answers.
std::string_view type_name(Type type);
// The type of that name, in any case; nullopt when there is none.
std::optional<Type> type_named(std::string_view name);

// The encoding, as OBJECT ENCODING answers: "int", "embstr", "listpack", ...
std::string_view encoding_name(const Record& record);

}  // namespace sorrel
