#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acl/user.h"

namespace sorrel::acl {

// Why something was not allowed. In the order of how far a request came: of several selectors that
// refuse, the one that got furthest tells the reason.
enum class Reason : uint8_t { kNone, kCommand, kDatabase, kKey, kChannel, kAuth, kCertificate };
inline constexpr size_t kReasonCount = 7;
std::string_view reason_name(Reason reason);  // as in ACL LOG

// A request, as far as permissions go. `args` starts with the command's name and fits its arity.
struct Asked {
  const catalog::CommandSpec& command;
  uint32_t index;  // of the command in catalog::all()
  std::span<const std::string_view> args;
  int database = kLater;  // the one it would run in
  // For a request that is only queued: its database is looked at when it runs.
  static constexpr int kLater = -1;
};

struct Denial {
  Reason reason = Reason::kNone;
  uint32_t position = 0;  // of the argument that is not allowed
  // The named keys are allowed, but it would also read keys whose names it makes from contents.
  bool keys_by_content = false;
  // Its arguments do not tell which keys it would touch: counts that do not fit them.
  bool keys_unknown = false;

  explicit operator bool() const { return reason != Reason::kNone; }
};

// Whether one of the user's selectors covers all of it. Keys are those of catalog::extract_keys().
// Without knowing all of them a selector with key patterns allows nothing, although most handlers
// would refuse such arguments as well. `scratch` is only for speed.
Denial check(const User& user, const Asked& asked, std::vector<catalog::KeyPosition>& scratch);

// "User bob has no permissions to run the 'get' command". `verbose` names keys and channels, which
// replies to the user itself do not. Of keys_by_content: what SORT says.
std::string describe(const Denial& denial, const User& user, const Asked& asked, bool verbose);
// What is not allowed: the command, the key, the channel, the database.
std::string object_of(const Denial& denial, const Asked& asked);

}  // namespace sorrel::acl
