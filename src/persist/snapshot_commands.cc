// SAVE, BGSAVE, LASTSAVE.

#include "base/bytes.h"
#include "dispatch/call.h"
#include "persist/snapshot_saver.h"

namespace sorrel::persist {
namespace {

SnapshotSaver& saver_of(const Call& call) {
  return call.context<SnapshotSaver>();
}

constexpr std::string_view kAlreadySaving = "ERR Background save already in progress";

void save_now(Call& call) {
  SnapshotSaver& saver = saver_of(call);
  if (saver.in_background()) return call.reply.error(kAlreadySaving);
  if (!saver.save_for_client()) return call.reply.error("ERR");
  call.reply.ok();
}

void cancel(Call& call) {
  switch (saver_of(call).cancel_background()) {
    case SnapshotSaver::Cancelled::kRunning:
      return call.reply.simple("Background saving cancelled");
    case SnapshotSaver::Cancelled::kScheduled:
      return call.reply.simple("Scheduled background saving cancelled");
    case SnapshotSaver::Cancelled::kNothing:
      break;
  }
  call.reply.error("ERR Background saving is currently not in progress or scheduled");
}

void bgsave(Call& call) {
  const bool is_scheduled = call.argc() == 2 && iequals(call.arg(1), "schedule");
  if (call.argc() == 2 && iequals(call.arg(1), "cancel")) return cancel(call);
  if (call.argc() > 1 && !is_scheduled) return answer::syntax_error(call);
  SnapshotSaver& saver = saver_of(call);
  // Between the commands of a transaction the dataset is not consistent.
  const bool in_transaction = !call.caller.may_wait;
  if (saver.in_background()) {
    call.reply.error(kAlreadySaving);
  } else if (in_transaction || (saver.job_active() && is_scheduled)) {
    saver.schedule();
    call.reply.simple("Background saving scheduled");
  } else if (saver.job_active()) {
    call.reply.error(
        "ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE "
        "in order to schedule a BGSAVE whenever possible.");
  } else if (saver.start_background()) {
    call.reply.simple("Background saving started");
  } else {
    call.reply.error("ERR");
  }
}

void lastsave(Call& call) {
  call.reply.integer(saver_of(call).facts().last_save_s);
}

}  // namespace

std::vector<Binding> SnapshotSaver::bindings() {
  return {{"bgsave", &bgsave, this}, {"lastsave", &lastsave, this}, {"save", &save_now, this}};
}

}  // namespace sorrel::persist
