#pragma once

#include <cstdint>

#include "dispatch/call.h"
#include "dispatch/reply_durability.h"
#include "propagate/effect_log.h"
#include "resp/short_request.h"

namespace sorrel {

// Turns the changes of one worker's commands into effects: the request as it was sent, or the
// commands that its handler put into the Rewrite.
//
//   short request, unchanged ──> its bytes are borrowed until the pipeline batch ends
//   any other, unchanged     ──> its arguments are encoded
//   rewritten                ──> each command is encoded, several as one atomic group
class EffectWriter {
 public:
  EffectWriter(EffectLog& effects, ReplyDurability& durability)
      : effects_(effects), durability_(durability) {}

  Rewrite& rewrite() { return rewrite_; }

  // Precondition: `call` changed something, the AOF is active, and the latches of the call's keys
  // are still held.
  void write(const Call& call) {
    if (rewrite_.kind() == Rewrite::Kind::kVerbatim && call.request.as_sent &&
        !effects_.tells_keys()) [[likely]] {
      const std::string_view text = resp::text_of_short_request(call.request.args);
      if (!text.empty()) [[likely]]
        return effects_.append_text(call.keys.db(), text);
    }
    write_slowly(call);
  }

 private:
  [[gnu::noinline]] void write_slowly(const Call& call);
  void write_rewritten(const Call& call);
  void write_commands(int db);

  EffectLog& effects_;
  ReplyDurability& durability_;
  Rewrite rewrite_;
};

}  // namespace sorrel
