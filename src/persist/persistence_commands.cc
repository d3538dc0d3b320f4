// SAVE, BGSAVE, LASTSAVE.

#include "base/bytes.h"
#include "dispatch/call.h"
#include "server/persistence.h"

namespace sorrel::server {
namespace {

Persistence& persistence_of(const Call& call) {
  return call.context<Persistence>();
}

constexpr std::string_view kAlreadySaving = "ERR Background save already in progress";

void save_now(Call& call) {
  Persistence& persistence = persistence_of(call);
  if (persistence.background_kind() == persist::ChildKind::kSnapshot) {
    return call.reply.error(kAlreadySaving);
  }
  persistence.saves().saves++;
  if (!persistence.save()) return call.reply.error("ERR");
  call.reply.ok();
}

void cancel(Call& call) {
  switch (persistence_of(call).cancel_background_save()) {
    case Persistence::Cancelled::kRunning:
      return call.reply.simple("Background saving cancelled");
    case Persistence::Cancelled::kScheduled:
      return call.reply.simple("Scheduled background saving cancelled");
    case Persistence::Cancelled::kNothing:
      break;
  }
  call.reply.error("ERR Background saving is currently not in progress or scheduled");
}

void bgsave(Call& call) {
  const bool is_scheduled = call.argc() == 2 && iequals(call.arg(1), "schedule");
  if (call.argc() == 2 && iequals(call.arg(1), "cancel")) return cancel(call);
  if (call.argc() > 1 && !is_scheduled) return answer::syntax_error(call);
  Persistence& persistence = persistence_of(call);
  // Between the commands of a transaction nothing half done may be written.
  const bool in_transaction = !call.caller.may_wait;
  if (persistence.background_kind() == persist::ChildKind::kSnapshot) {
    call.reply.error(kAlreadySaving);
  } else if (in_transaction || (persistence.background_active() && is_scheduled)) {
    persistence.saves().scheduled = true;
    call.reply.simple("Background saving scheduled");
  } else if (persistence.background_active()) {
    call.reply.error(
        "ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE "
        "in order to schedule a BGSAVE whenever possible.");
  } else if (persistence.start_background_save()) {
    call.reply.simple("Background saving started");
  } else {
    call.reply.error("ERR");
  }
}

void lastsave(Call& call) {
  call.reply.integer(persistence_of(call).saves().last_save_s);
}

}  // namespace

std::vector<Binding> Persistence::bindings() {
  std::vector<Binding> all = append_only_.bindings();
  all.push_back({"bgsave", &bgsave, this});
  all.push_back({"lastsave", &lastsave, this});
  all.push_back({"save", &save_now, this});
  return all;
}

}  // namespace sorrel::server
