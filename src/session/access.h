#pragma once

#include <span>

#include "acl/access_log.h"
#include "session/session_host.h"

namespace sorrel {

// What becomes of connections when users change, and what is noted when one of them is refused.
// Everything but note_denial() is called under the gate.

// After any change of world.users: every connection sees it.
void refresh_rights(SessionWorld& world);

// Ends the connections of these users, who are no more. Nobody is freed here; the one whose command
// this is (`me`, may be null) still gets its answer.
void end_sessions_of(SessionWorld& world, std::span<const acl::AccountHandle> gone, Session* me);

// Ends the connections of `account` that listen to what they no longer may, now that its user is
// not what it was `before`. `me` as above.
void end_subscribers_of(SessionWorld& world, const acl::AccountHandle& account,
                        const acl::User& before, Session* me);

// Adds to ACL LOG. Reason, context, object and user are the caller's business (an empty user means
// that of `caller`), the rest is filled in here. Any worker, inside its batch.
void note_denial(SessionWorld& world, const Caller& caller, acl::AccessEntry entry);

}  // namespace sorrel
