#include "script/debugged_host.h"

#include "script/debug_text.h"

namespace sorrel::script {
namespace {

// The text of a rejection; the usual error code ERR is left out.
std::string reason_shown(std::string_view text) {
  constexpr std::string_view kUsual = "ERR ";
  return text.starts_with(kUsual) ? std::string(text.substr(kUsual.size()))
                                  : "-" + std::string(text);
}

}  // namespace

bool DebuggedHost::run(std::span<const std::string_view> args, resp::ReplySink& reply) {
  if (!debugger_.stepping()) return host_.run(args, reply);
  debugger_.note_command(args);
  ShowingSink shown(reply);
  const bool ran = host_.run(args, shown);
  if (!ran) {
    debugger_.note_error(reason_shown(shown.error_text()));
    return false;
  }
  if (shown.errors() > 0) debugger_.note_error("-" + shown.error_text());
  debugger_.note_answer(shown.text());
  return true;
}

}  // namespace sorrel::script
