// BGREWRITEAOF, WAITAOF.

#include <fmt/format.h>

#include <optional>

#include "base/numbers.h"
#include "dispatch/executor.h"
#include "persist/append_only.h"

namespace sorrel::persist {
namespace {

void bgrewriteaof(Call& call) {
  // In a transaction the rewrite waits for the end of it: half of one must not be written.
  switch (call.context<AppendOnly>().rewrite().ask(!call.caller.may_wait)) {
    case AofRewrite::Asked::kStarted:
      return call.reply.simple("Background append only file rewriting started");
    case AofRewrite::Asked::kScheduled:
      return call.reply.simple("Background append only file rewriting scheduled");
    case AofRewrite::Asked::kRunning:
      return call.reply.error("ERR Background append only file rewriting already in progress");
    case AofRewrite::Asked::kFailed:
      break;
  }
  call.reply.error(
      "ERR Can't execute an AOF background rewriting. Please check the server logs for more "
      "information.");
}

// A number within bounds, or nullopt after an answer.
std::optional<int64_t> number_at(Call& call, size_t at, int64_t most, std::string_view beyond) {
  const std::optional<int64_t> number = parse_int64(call.arg(at));
  if (!number) {
    answer::not_an_integer(call);
  } else if (*number < 0 || *number > most) {
    call.reply.error(beyond);
  } else {
    return number;
  }
  return std::nullopt;
}

// WAITAOF numlocal numreplicas timeout. There are no replicas.
void waitaof(Call& call) {
  const auto local = number_at(call, 1, 1, "ERR value is out of range, value must between 0 and 1");
  if (!local) return;
  const auto replicas =
      number_at(call, 2, INT64_MAX, "ERR value is out of range, must be positive");
  if (!replicas) return;
  const auto timeout = parse_int64(call.arg(3));
  if (!timeout) return call.reply.error("ERR timeout is not an integer or out of range");
  if (*timeout < 0) return call.reply.error("ERR timeout is negative");
  const AofState state = call.context<AppendOnly>().state();
  if (*local > 0 && state == AofState::kOff) {
    return call.reply.error(
        "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.");
  }
  EffectStream& effects = call.executor.world().effects;
  // Keys that were there when the AOF began were never an effect.
  const uint64_t last = state == AofState::kOn ? call.caller.last_effect : effects.last_sequence();
  const bool covered = effects.durability().covers(last);
  if ((*replicas == 0 && (covered || *local == 0)) || !call.caller.may_wait) {
    call.reply.array(2);
    call.reply.integer(covered ? 1 : 0);
    call.reply.integer(0);
    return;
  }
  const int64_t deadline =
      *timeout == 0 ? 0 : checked_add(*timeout, call.now_ms()).value_or(INT64_MAX);
  call.wait_for_log(std::max<uint64_t>(last, 1), *replicas > 0, deadline);
}

}  // namespace

std::vector<Binding> AppendOnly::bindings() {
  return {
      {"bgrewriteaof", &bgrewriteaof, this},
      {"waitaof", &waitaof, this},
  };
}

}  // namespace sorrel::persist
