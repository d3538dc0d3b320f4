#include "server/option_chapters.h"

namespace sorrel::server {
namespace {

constexpr Word kChannelWords[] = {
    {"allchannels", static_cast<int>(ChannelDefault::kAllChannels)},
    {"resetchannels", static_cast<int>(ChannelDefault::kResetChannels)},
};

constexpr Word kAllowedWords[] = {
    {"no", static_cast<int>(Allowed::kNo)},
    {"yes", static_cast<int>(Allowed::kYes)},
    {"local", static_cast<int>(Allowed::kLocal)},
};

constexpr InOptions::Row kSecurity[] = {
    {.name = "requirepass",
     .flags = kSecret | kBinary,
     .part = &part::kPassword,
     .kind = InOptions::optional_text<&Options::security, &SecurityOptions::requirepass>(),
     .help = "Password of the default user; empty asks for none."},
    {.name = "aclfile",
     .flags = kStartupOnly,
     .kind = InOptions::text<&Options::security, &SecurityOptions::acl_file>(),
     .help = "File with the users and their rules; it excludes user lines in this file."},
    {.name = "acl-pubsub-default",
     .kind = InOptions::words<&Options::security, &SecurityOptions::pubsub_default>(kChannelWords),
     .help = "Whether a new user may use every pub/sub channel or none."},
    {.name = "acllog-max-len",
     .kind = InOptions::integer<&Options::security, &SecurityOptions::acl_log_max_len>(0, kLongMax),
     .help = "Entries that ACL LOG keeps."},
    {.name = "enable-protected-configs",
     .flags = kStartupOnly,
     .kind =
         InOptions::words<&Options::security, &SecurityOptions::protected_configs>(kAllowedWords),
     .help =
         "Who may change dir and dbfilename at run time: nobody, everybody, or local connections."},
    {.name = "enable-debug-command",
     .flags = kStartupOnly,
     .kind = InOptions::words<&Options::security, &SecurityOptions::debug_command>(kAllowedWords),
     .help = "Who may call DEBUG: nobody, everybody, or local connections."},
    {.name = "enable-module-command",
     .flags = kStartupOnly,
     .kind = InOptions::words<&Options::security, &SecurityOptions::module_command>(kAllowedWords),
     .help = "Who may call MODULE: nobody, everybody, or local connections."},
};

}  // namespace

OptionRows security_directives() {
  return kSecurity;
}

}  // namespace sorrel::server
