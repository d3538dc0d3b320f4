#pragma once

#include <string>

#include "keyspace/keyspace.h"
#include "types/record.h"

namespace sorrel::commands {

// The value in the format of DUMP and RESTORE.
std::string dump_payload(const Record& record, const Keyspace& keyspace);

}  // namespace sorrel::commands
