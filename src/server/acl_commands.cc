#include "server/acl_commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "acl/users_file.h"
#include "base/bytes.h"
#include "base/excerpt.h"
#include "base/numbers.h"
#include "dispatch/call.h"
#include "io/process.h"
#include "server/user_files.h"
#include "session/access.h"

namespace sorrel::server {
namespace {

constexpr size_t kFirstArgument = 2;  // behind "acl" and the subcommand

AclCommands& acl_commands_of(const Call& call) {
  return call.context<AclCommands>();
}

acl::Users& users_of(const Call& call) {
  return acl_commands_of(call).sessions.users;
}

// Null when the caller is no connection.
Session* session_of(const Call& call) {
  if (call.caller.kind != Caller::Kind::kSession) return nullptr;
  return static_cast<SessionCaller&>(call.caller).session;
}

void answer_categories(Call& call) {
  call.reply.array(catalog::kAclCategoryCount);
  for (int bit = 0; bit < catalog::kAclCategoryCount; bit++) {
    call.reply.bulk(catalog::acl_category_name(static_cast<catalog::AclCategory>(1ull << bit)));
  }
}

void acl_cat(Call& call) {
  if (call.argc() > 3) return answer::subcommand_syntax(call);
  if (call.argc() == 2) return answer_categories(call);
  const uint64_t category = catalog::acl_category(call.arg(2));
  if (category == 0) {
    return call.reply.error(fmt::format("ERR Unknown category '{}'", excerpt(call.arg(2))));
  }
  std::vector<std::string> names;
  for (const catalog::CommandSpec* command : catalog::all()) {
    if ((catalog::effective_acl_categories(*command) & category) != 0) {
      names.push_back(catalog::full_name(*command));
    }
  }
  call.reply.array(static_cast<int64_t>(names.size()));
  for (const std::string& name : names) call.reply.bulk(name);
}

void acl_whoami(Call& call) {
  call.reply.bulk(call.caller.user_name());
}

void acl_users(Call& call) {
  const auto accounts = users_of(call).all();
  call.reply.array(static_cast<int64_t>(accounts.size()));
  for (const auto& account : accounts) call.reply.bulk(account->name());
}

void acl_list(Call& call) {
  const auto accounts = users_of(call).all();
  call.reply.array(static_cast<int64_t>(accounts.size()));
  for (const auto& account : accounts) call.reply.bulk(acl::user_line(account->user()));
}

void acl_setuser(Call& call) {
  const std::string_view name = call.arg(2);
  if (!acl::is_valid_name(name)) {
    return call.reply.error("ERR Usernames can't contain spaces or null characters");
  }
  SessionWorld& sessions = acl_commands_of(call).sessions;
  Result<acl::User> user = sessions.users.with_rules(name, call.args.subspan(3));
  if (!user) return call.reply.error("ERR " + user.error().text);
  const acl::AccountHandle known = sessions.users.find(name);
  const auto before = known != nullptr ? known->snapshot() : nullptr;
  sessions.users.put(std::move(*user));
  refresh_rights(sessions);
  if (before != nullptr) end_subscribers_of(sessions, known, *before, session_of(call));
  call.reply.ok();
}

void acl_deluser(Call& call) {
  const auto names = call.args.subspan(kFirstArgument);
  if (std::find(names.begin(), names.end(), "default") != names.end()) {
    return call.reply.error("ERR The 'default' user cannot be removed");
  }
  SessionWorld& sessions = acl_commands_of(call).sessions;
  std::vector<acl::AccountHandle> gone;
  for (std::string_view name : names) {
    if (acl::AccountHandle account = sessions.users.remove(name)) gone.push_back(account);
  }
  end_sessions_of(sessions, gone, session_of(call));
  call.reply.integer(static_cast<int64_t>(gone.size()));
}

// The three facts of every selector, and a fourth of those that need it.
int64_t selector_facts(const acl::Selector& selector) {
  return selector.all_databases ? 3 : 4;
}

void answer_selector(Call& call, const acl::Selector& selector) {
  call.reply.bulk("commands");
  call.reply.bulk(selector.commands.describe());
  call.reply.bulk("keys");
  call.reply.bulk(selector.describe_keys());
  call.reply.bulk("channels");
  call.reply.bulk(selector.describe_channels());
  if (selector.all_databases) return;
  call.reply.bulk("databases");
  call.reply.bulk(selector.describe_databases());
}

void acl_getuser(Call& call) {
  const acl::AccountHandle account = users_of(call).find(call.arg(2));
  if (account == nullptr) return call.reply.null();
  const acl::User& user = account->user();
  call.reply.map(3 + selector_facts(user.root));
  call.reply.bulk("flags");
  const auto flags = user.flag_names();
  call.reply.set(static_cast<int64_t>(flags.size()));
  for (std::string_view flag : flags) call.reply.bulk(flag);
  call.reply.bulk("passwords");
  call.reply.array(static_cast<int64_t>(user.passwords.size()));
  for (const std::string& password : user.passwords) call.reply.bulk(password);
  answer_selector(call, user.root);
  call.reply.bulk("selectors");
  call.reply.array(static_cast<int64_t>(user.selectors.size()));
  for (const acl::Selector& selector : user.selectors) {
    call.reply.map(selector_facts(selector));
    answer_selector(call, selector);
  }
}

void no_file(Call& call) {
  call.reply.error(
      "ERR This Redis instance is not configured to use an ACL file. You may want to specify users "
      "via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis "
      "configuration file set) in order to store users in the Redis configuration.");
}

void acl_load(Call& call) {
  const AclCommands& commands = acl_commands_of(call);
  if (commands.options.security.acl_file.empty()) return no_file(call);
  auto users = read_users_file(commands.options, commands.files);
  if (!users) return call.reply.error("ERR " + users.error().text);
  const auto gone = commands.sessions.users.replace_all(std::move(*users));
  end_sessions_of(commands.sessions, gone, session_of(call));
  refresh_rights(commands.sessions);
  call.reply.ok();
}

void acl_save(Call& call) {
  const AclCommands& commands = acl_commands_of(call);
  if (commands.options.security.acl_file.empty()) return no_file(call);
  const std::string text = acl::write_users(commands.sessions.users);
  const Status saved = commands.files.replace
                           ? commands.files.replace(commands.options.security.acl_file, text)
                           : Status(Error{"Operation not supported"});
  if (saved) return call.reply.ok();
  commands.sessions.log.warning("The ACL file cannot be written: " + saved.error().text);
  call.reply.error(
      "ERR There was an error trying to save the ACLs. Please check the server logs for more "
      "information");
}

void acl_genpass(Call& call) {
  constexpr int64_t kDefaultBits = 256;
  constexpr int64_t kMostBits = 4096;
  if (call.argc() > 3) return answer::subcommand_syntax(call);
  int64_t bits = kDefaultBits;
  if (call.argc() == 3) {
    const auto asked = parse_int64(call.arg(2));
    if (!asked) return answer::not_an_integer(call);
    bits = *asked;
  }
  if (bits <= 0 || bits > kMostBits) {
    return call.reply.error(
        fmt::format("ERR ACL GENPASS argument must be the number of bits for the output password, "
                    "a positive number up to {}",
                    kMostBits));
  }
  const Result<std::string> digits = io::random_hex(static_cast<size_t>((bits + 3) / 4));
  if (!digits) return call.reply.error("ERR " + digits.error().text);
  call.reply.bulk(*digits);
}

void answer_log_entry(Call& call, const acl::AccessEntry& entry) {
  call.reply.map(10);
  call.reply.bulk("count");
  call.reply.integer(static_cast<int64_t>(entry.count));
  call.reply.bulk("reason");
  call.reply.bulk(acl::reason_name(entry.reason));
  call.reply.bulk("context");
  call.reply.bulk(acl::context_name(entry.context));
  call.reply.bulk("object");
  call.reply.bulk(entry.object);
  call.reply.bulk("username");
  call.reply.bulk(entry.user);
  call.reply.bulk("age-seconds");
  call.reply.real(static_cast<double>(call.now_ms() - entry.updated_ms) / 1000);
  call.reply.bulk("client-info");
  call.reply.bulk(entry.client);
  call.reply.bulk("entry-id");
  call.reply.integer(static_cast<int64_t>(entry.id));
  call.reply.bulk("timestamp-created");
  call.reply.integer(entry.created_ms);
  call.reply.bulk("timestamp-last-updated");
  call.reply.integer(entry.updated_ms);
}

void acl_log(Call& call) {
  constexpr int64_t kShownByDefault = 10;
  if (call.argc() > 3) return answer::subcommand_syntax(call);
  acl::AccessLog& log = acl_commands_of(call).sessions.access_log;
  int64_t count = kShownByDefault;
  if (call.argc() == 3) {
    if (iequals(call.arg(2), "RESET")) {
      log.clear();
      return call.reply.ok();
    }
    const auto asked = parse_int64(call.arg(2));
    if (!asked) return answer::not_an_integer(call);
    count = std::max<int64_t>(*asked, 0);
  }
  const auto entries = log.newest(static_cast<size_t>(count));
  call.reply.array(static_cast<int64_t>(entries.size()));
  for (const acl::AccessEntry& entry : entries) answer_log_entry(call, entry);
}

void acl_dryrun(Call& call) {
  const acl::AccountHandle account = users_of(call).find(call.arg(2));
  if (account == nullptr) {
    return call.reply.error(fmt::format("ERR User '{}' not found", excerpt(call.arg(2))));
  }
  const auto args = call.args.subspan(3);
  const Command* command = acl_commands_of(call).table->find_request(args);
  if (command == nullptr) {
    return call.reply.error(fmt::format("ERR Command '{}' not found", excerpt(args[0])));
  }
  if (!command->arity_fits(args.size())) {
    return call.reply.error(
        fmt::format("ERR wrong number of arguments for '{}' command", command->name));
  }
  const acl::Asked asked{*command->spec, command->index, args, call.caller.db};
  std::vector<catalog::KeyPosition> scratch;
  const acl::Denial denial = acl::check(account->user(), asked, scratch);
  if (!denial) return call.reply.ok();
  call.reply.bulk(acl::describe(denial, account->user(), asked, true));
}

void acl_help(Call& call) {
  answer::help(call, {
                         "CAT [<category>]",
                         "    List the categories of commands, or the commands of one.",
                         "DELUSER <username> [<username> ...]",
                         "    Delete users and close their connections.",
                         "DRYRUN <username> <command> [<arg> ...]",
                         "    Tell whether the user may run the command, without running it.",
                         "GETUSER <username>",
                         "    Show what a user may do.",
                         "GENPASS [<bits>]",
                         "    Make a password of so many random bits (256 unless told).",
                         "LIST",
                         "    Show all users as the lines of a file.",
                         "LOAD",
                         "    Read the ACL file again.",
                         "LOG [<count> | RESET]",
                         "    Show the newest refusals (10 unless told), or forget them.",
                         "SAVE",
                         "    Write all users to the ACL file.",
                         "SETUSER <username> <attribute> [<attribute> ...]",
                         "    Make a user, or change what it may do.",
                         "USERS",
                         "    List the names of all users.",
                         "WHOAMI",
                         "    Tell the name of this connection's user.",
                     });
}

}  // namespace

std::vector<Binding> acl_bindings(AclCommands& commands) {
  return {
      {"acl|cat", &acl_cat, &commands},         {"acl|deluser", &acl_deluser, &commands},
      {"acl|dryrun", &acl_dryrun, &commands},   {"acl|genpass", &acl_genpass, &commands},
      {"acl|getuser", &acl_getuser, &commands}, {"acl|help", &acl_help, &commands},
      {"acl|list", &acl_list, &commands},       {"acl|load", &acl_load, &commands},
      {"acl|log", &acl_log, &commands},         {"acl|save", &acl_save, &commands},
      {"acl|setuser", &acl_setuser, &commands}, {"acl|users", &acl_users, &commands},
      {"acl|whoami", &acl_whoami, &commands},
  };
}

}  // namespace sorrel::server
