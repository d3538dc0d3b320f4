#include "dispatch/call.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/excerpt.h"

namespace sorrel {

void Call::rewrite_as_deletion(size_t at, Freeing why) {
  if (!wants_effect()) return;
  rewrite.as({std::string(keys.keyspace().deletion_command(why)), std::string(arg(at))});
}

void Call::wait(std::vector<size_t> positions, int64_t deadline_ms, bool null_array) {
  if (!caller.may_wait) {
    null_array ? reply.null_array() : reply.null();
    return;
  }
  waiting.asked = true;
  waiting.keys = std::move(positions);
  waiting.deadline_ms = deadline_ms;
  waiting.null_array = null_array;
  waiting.needs_key = false;
}

void Call::wait_for_log(uint64_t sequence, bool for_replicas, int64_t deadline_ms) {
  wait({}, deadline_ms, true);
  waiting.log_sequence = sequence;
  waiting.for_replicas = for_replicas;
}

void Call::wait_needing_keys(std::vector<size_t> positions, int64_t deadline_ms, bool null_array) {
  wait(std::move(positions), deadline_ms, null_array);
  waiting.needs_key = true;
}

}  // namespace sorrel

namespace sorrel::answer {
namespace {

std::string_view container_of(const Call& call) {
  return call.command.parent != nullptr ? call.command.parent->name : call.command.name;
}

}  // namespace

void syntax_error(Call& call) {
  call.reply.error("ERR syntax error");
}

void wrong_type(Call& call) {
  call.reply.error("WRONGTYPE Operation against a key holding the wrong kind of value");
}

void not_an_integer(Call& call) {
  call.reply.error("ERR value is not an integer or out of range");
}

void wrong_arity(Call& call) {
  call.reply.error(
      fmt::format("ERR wrong number of arguments for '{}' command", call.command.name));
}

void unknown_subcommand(Call& call) {
  const std::string_view container = container_of(call);
  call.reply.error(fmt::format("ERR unknown subcommand '{}'. Try {} HELP.",
                               call.argc() > 1 ? excerpt(call.arg(1)) : "", upper_copy(container)));
}

void subcommand_syntax(Call& call) {
  call.reply.error(
      fmt::format("ERR unknown subcommand or wrong number of arguments for '{}'. Try {} HELP.",
                  call.argc() > 1 ? excerpt(call.arg(1)) : "", upper_copy(container_of(call))));
}

void help(Call& call, std::span<const std::string_view> lines) {
  const std::string_view container = container_of(call);
  call.reply.array(static_cast<int64_t>(lines.size()) + 3);
  call.reply.simple(fmt::format("{} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
                                upper_copy(container)));
  for (std::string_view line : lines) call.reply.simple(line);
  call.reply.simple("HELP");
  call.reply.simple("    Print this help.");
}

}  // namespace sorrel::answer
