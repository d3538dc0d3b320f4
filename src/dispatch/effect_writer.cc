#include "dispatch/effect_writer.h"

#include <string_view>
#include <vector>

namespace sorrel {

// Apart from write(), so that the usual case needs no room on the stack for this one.
void EffectWriter::write_slowly(const Call& call) {
  if (!effects_.tells_keys()) return write_rewritten(call);
  const uint64_t reported = effects_.last_told();
  if (rewrite_.kind() != Rewrite::Kind::kNothing) durability_.add_changed_keys(call);
  write_rewritten(call);
  if (effects_.last_told() != reported) durability_.set_last_change(call.request);
}

void EffectWriter::write_rewritten(const Call& call) {
  switch (rewrite_.kind()) {
    case Rewrite::Kind::kNothing:
      return;
    case Rewrite::Kind::kVerbatim:
      if (call.request.as_sent) {
        const std::string_view text = resp::text_of_short_request(call.request.args);
        if (!text.empty()) return effects_.append_text(call.keys.db(), text);
      }
      return effects_.append(call.keys.db(), call.args);
    case Rewrite::Kind::kCommands:
      return write_commands(call.keys.db());
  }
}

void EffectWriter::write_commands(int db) {
  effects_.begin_unit();
  for (const auto& command : rewrite_.commands()) {
    const std::vector<std::string_view> args(command.begin(), command.end());
    effects_.append(db, args);
  }
  effects_.end_unit();
}

}  // namespace sorrel
