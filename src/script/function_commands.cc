#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/glob.h"
#include "dispatch/call.h"
#include "script/script_flags.h"
#include "script/scripting.h"

// FUNCTION: loading, listing, dumping and deleting libraries, and ending the function that runs.

namespace sorrel::script {
namespace {

FunctionRegistry& functions_of(Call& call) {
  return call.context<Scripting>().functions;
}

// Libraries are data: the request is propagated as it was sent.
void changed(Call& call) {
  call.keys.count_changes(1);
}

void load(Call& call) {
  bool replace = false;
  for (size_t i = 2; i + 1 < call.argc(); i++) {
    if (!iequals(call.arg(i), "replace")) {
      return call.reply.error("ERR Unknown option given: " + std::string(call.arg(i)));
    }
    replace = true;
  }
  // A history loaded this library before, so the time limit does not apply to it.
  const bool replayed = call.caller.repeats_history();
  const auto name = functions_of(call).load(call.arg(call.argc() - 1), replace,
                                            replayed ? 0 : FunctionRegistry::kLoadLimitMs);
  if (!name) return call.reply.error("ERR " + name.error().text);
  changed(call);
  call.reply.bulk(*name);
}

void remove(Call& call) {
  if (!functions_of(call).remove(call.arg(2))) return call.reply.error("ERR Library not found");
  changed(call);
  call.reply.ok();
}

void flush(Call& call) {
  if (call.argc() > 3) return answer::subcommand_syntax(call);
  if (call.argc() == 3 && !iequals(call.arg(2), "sync") && !iequals(call.arg(2), "async")) {
    return call.reply.error("ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
  }
  functions_of(call).flush();
  changed(call);
  call.reply.ok();
}

void dump(Call& call) {
  call.reply.bulk(functions_of(call).dump());
}

std::optional<FunctionRegistry::Policy> policy_named(std::string_view word) {
  using Policy = FunctionRegistry::Policy;
  if (iequals(word, "append")) return Policy::kAppend;
  if (iequals(word, "replace")) return Policy::kReplace;
  if (iequals(word, "flush")) return Policy::kFlush;
  return std::nullopt;
}

void restore(Call& call) {
  if (call.argc() > 4) return answer::subcommand_syntax(call);
  auto policy = std::optional(FunctionRegistry::Policy::kAppend);
  if (call.argc() == 4) policy = policy_named(call.arg(3));
  if (!policy) {
    return call.reply.error(
        "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.");
  }
  if (Status done = functions_of(call).restore(call.arg(2), *policy); !done) {
    return call.reply.error("ERR " + done.error().text);
  }
  changed(call);
  call.reply.ok();
}

// ---------------------------------------------------------------- LIST

struct Listed {
  bool with_code = false;
  std::optional<std::string_view> pattern;
};

// nullopt: an error was answered.
std::optional<Listed> parse_list(Call& call) {
  Listed listed;
  for (size_t i = 2; i < call.argc(); i++) {
    if (!listed.with_code && iequals(call.arg(i), "withcode")) {
      listed.with_code = true;
    } else if (!listed.pattern && iequals(call.arg(i), "libraryname")) {
      if (++i >= call.argc()) {
        call.reply.error("ERR library name argument was not given");
        return std::nullopt;
      }
      listed.pattern = call.arg(i);
    } else {
      call.reply.error("ERR Unknown argument " + std::string(call.arg(i)));
      return std::nullopt;
    }
  }
  return listed;
}

void answer_function(resp::ReplySink& reply, const Function& function) {
  reply.map(3);
  reply.bulk("name");
  reply.bulk(function.name);
  reply.bulk("description");
  if (function.described) {
    reply.bulk(function.description);
  } else {
    reply.null();
  }
  reply.bulk("flags");
  int64_t count = 0;
  for (const NamedFlag& flag : named_flags()) count += (function.flags & flag.flag) != 0 ? 1 : 0;
  reply.set(count);
  for (const NamedFlag& flag : named_flags()) {
    if ((function.flags & flag.flag) != 0) reply.simple(flag.name);
  }
}

void answer_library(resp::ReplySink& reply, const Library& library, bool with_code) {
  reply.map(with_code ? 4 : 3);
  reply.bulk("library_name");
  reply.bulk(library.name);
  reply.bulk("engine");
  reply.bulk("LUA");
  reply.bulk("functions");
  reply.array(static_cast<int64_t>(library.functions.size()));
  for (const auto& [name, function] : library.functions) answer_function(reply, function);
  if (!with_code) return;
  reply.bulk("library_code");
  reply.bulk(library.code);
}

void list(Call& call) {
  const auto listed = parse_list(call);
  if (!listed) return;
  std::vector<const Library*> wanted;
  for (const auto& [name, library] : functions_of(call).libraries()) {
    if (!listed->pattern || glob_match(*listed->pattern, name, true)) {
      wanted.push_back(library.get());
    }
  }
  call.reply.array(static_cast<int64_t>(wanted.size()));
  for (const Library* library : wanted) answer_library(call.reply, *library, listed->with_code);
}

// ---------------------------------------------------------------- what runs

void stats(Call& call) {
  Scripting& scripting = call.context<Scripting>();
  const RunningScript* running = scripting.running;
  if (running != nullptr && !running->is_function) {
    return call.reply.error(busy_error(*running));
  }
  call.reply.map(2);
  call.reply.bulk("running_script");
  if (running == nullptr) {
    call.reply.null();
  } else {
    call.reply.map(3);
    call.reply.bulk("name");
    call.reply.bulk(running->name);
    call.reply.bulk("command");
    call.reply.array(static_cast<int64_t>(running->request.size()));
    for (const std::string_view arg : running->request) call.reply.bulk(arg);
    call.reply.bulk("duration_ms");
    call.reply.integer((scripting.clock().monotonic_ns() - running->began_ns) / 1'000'000);
  }
  call.reply.bulk("engines");
  call.reply.map(1);
  call.reply.bulk("LUA");
  call.reply.map(2);
  call.reply.bulk("libraries_count");
  call.reply.integer(static_cast<int64_t>(scripting.functions.libraries().size()));
  call.reply.bulk("functions_count");
  call.reply.integer(static_cast<int64_t>(scripting.functions.function_count()));
}

void kill(Call& call) {
  kill_running(call, true);
}

void help(Call& call) {
  answer::help(call, {
                         "DELETE <LIBRARY NAME>",
                         "    Delete a library with all its functions.",
                         "DUMP",
                         "    Give all libraries as one payload, for FUNCTION RESTORE.",
                         "FLUSH [ASYNC|SYNC]",
                         "    Delete all libraries.",
                         "KILL",
                         "    End the function that runs, unless it has written.",
                         "LIST [LIBRARYNAME PATTERN] [WITHCODE]",
                         "    List libraries and their functions, with their code if wanted.",
                         "LOAD [REPLACE] <FUNCTION CODE>",
                         "    Load a library; its first line gives its name.",
                         "RESTORE <PAYLOAD> [FLUSH|APPEND|REPLACE]",
                         "    Load the libraries of a payload: instead of all others, beside them,",
                         "    or in place of those of the same names.",
                         "STATS",
                         "    Tell what runs, and how much is loaded.",
                     });
}

}  // namespace

std::vector<Binding> function_bindings(Scripting& scripting) {
  return {
      {"function|load", &load, &scripting},       {"function|delete", &remove, &scripting},
      {"function|flush", &flush, &scripting},     {"function|dump", &dump, &scripting},
      {"function|restore", &restore, &scripting}, {"function|list", &list, &scripting},
      {"function|stats", &stats, &scripting},     {"function|kill", &kill, &scripting},
      {"function|help", &help, &scripting},
  };
}

}  // namespace sorrel::script
