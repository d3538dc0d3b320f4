// BGREWRITEAOF.

#include "dispatch/call.h"
#include "server/append_only.h"

namespace sorrel::server {
namespace {

void bgrewriteaof(Call& call) {
  // In a transaction it waits for its end: half of one is not to be written.
  switch (call.context<AppendOnly>().ask_for_rewrite(!call.caller.may_wait)) {
    case AppendOnly::Asked::kStarted:
      return call.reply.simple("Background append only file rewriting started");
    case AppendOnly::Asked::kScheduled:
      return call.reply.simple("Background append only file rewriting scheduled");
    case AppendOnly::Asked::kRunning:
      return call.reply.error("ERR Background append only file rewriting already in progress");
    case AppendOnly::Asked::kFailed:
      break;
  }
  call.reply.error(
      "ERR Can't execute an AOF background rewriting. Please check the server logs for more "
      "information.");
}

}  // namespace

std::vector<Binding> AppendOnly::bindings() {
  return {
      {"bgrewriteaof", &bgrewriteaof, this},
  };
}

}  // namespace sorrel::server
