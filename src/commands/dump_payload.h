#pragma once

#include <string>

#include "keyspace/keyspace.h"
#include "types/record.h"

namespace sorrel::commands {

// The value as DUMP gives it and RESTORE takes it.
std::string dump_payload(const Record& record, const Keyspace& keyspace);

}  // namespace sorrel::commands
