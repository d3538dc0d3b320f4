#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acl/user.h"

namespace sorrel::acl {

// Why a request is denied. Ordered by how far the check came: when several selectors deny it, the
// one that got furthest gives the reason.
enum class Reason : uint8_t { kNone, kCommand, kDatabase, kKey, kChannel, kAuth, kCertificate };
inline constexpr size_t kReasonCount = 7;
std::string_view reason_name(Reason reason);  // as in ACL LOG

// A request, as the check sees it. `args` starts with the command's name and fits its arity.
struct Asked {
  const catalog::CommandSpec& command;
  uint32_t index;  // of the command in catalog::all()
  std::span<const std::string_view> args;
  int database = kLater;  // the database in which it would run
  // For a request that is only queued by MULTI: its database is checked when it runs.
  static constexpr int kLater = -1;
};

struct Denial {
  Reason reason = Reason::kNone;
  uint32_t position = 0;  // of the argument that is denied
  // The named keys are allowed, but the command would also read keys whose names it takes from
  // data.
  bool keys_by_content = false;
  // The arguments do not tell which keys it would touch, because their counts do not fit.
  bool keys_unknown = false;

  explicit operator bool() const { return reason != Reason::kNone; }
};

// Whether one of the user's selectors allows the whole request. Keys are those of
// catalog::extract_keys(). When not all of them are known, a selector with key patterns denies the
// request, although most handlers would reject such arguments as well. `scratch` only saves
// allocations.
Denial check(const User& user, const Asked& asked, std::vector<catalog::KeyPosition>& scratch);

// "User bob has no permissions to run the 'get' command". `verbose` names keys and channels, which
// replies to the user itself do not. For keys_by_content: SORT's own text.
std::string describe(const Denial& denial, const User& user, const Asked& asked, bool verbose);
// The object that is denied: the command, the key, the channel, the database.
std::string object_of(const Denial& denial, const Asked& asked);

}  // namespace sorrel::acl
