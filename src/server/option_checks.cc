#include "server/option_checks.h"

#include "base/bytes.h"
#include "server/options.h"

namespace sorrel::server {
namespace {

bool is_path(std::string_view text) {
  return text.find('/') != std::string_view::npos;
}

}  // namespace

Status check_dbfilename(std::string_view text) {
  if (is_path(text)) return Error{"dbfilename can't be a path, just a filename"};
  return {};
}

Status check_appendfilename(std::string_view text) {
  if (text.empty()) return Error{"appendfilename can't be empty"};
  if (is_path(text)) return Error{"appendfilename can't be a path, just a filename"};
  return {};
}

Status check_appenddirname(std::string_view text) {
  if (text.empty()) return Error{"appenddirname can't be empty"};
  if (is_path(text)) return Error{"appenddirname can't be a path, just a dirname"};
  return {};
}

Status check_announced_hostname(std::string_view text) {
  constexpr size_t kMaxHostname = 256;
  if (text.size() >= kMaxHostname) return Error{"Hostnames must be less than 256 characters"};
  for (char c : text) {
    const bool letter = to_lower(c) >= 'a' && to_lower(c) <= 'z';
    const bool digit = c >= '0' && c <= '9';
    if (!letter && !digit && c != '-' && c != '.') {
      return Error{"Hostnames may only contain alphanumeric characters, hyphens or dots"};
    }
  }
  return {};
}

Status check_announced_nodename(std::string_view text) {
  // These characters have a meaning in the cluster's node file, and NUL would end the text there.
  constexpr std::string_view kForbidden("!#$%&()*+:;<>?@[]^{|}~\0", 23);
  if (text.find_first_of(kForbidden) != std::string_view::npos) {
    return Error{"Announced human node name contained invalid character"};
  }
  return {};
}

Status check_proc_title_template(std::string_view text) {
  const Error bad{"template format is invalid or contains unknown variables"};
  // {title} and {unixsocket} may turn out empty, and a process needs a title.
  constexpr std::string_view kMaybeEmpty[] = {"title", "unixsocket"};
  constexpr std::string_view kNeverEmpty[] = {"listen-addr", "server-mode", "port", "tls-port",
                                              "config-file"};
  bool shows_something = false;
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] != '{') {
      shows_something |= text[at] != ' ';
      at++;
      continue;
    }
    if (text.substr(at, 2) == "{{") {
      shows_something = true;
      at += 2;
      continue;
    }
    const size_t close = text.find('}', at);
    if (close == std::string_view::npos) return bad;
    const std::string_view name = text.substr(at + 1, close - at - 1);
    bool known = false;
    for (std::string_view variable : kMaybeEmpty) known |= name == variable;
    for (std::string_view variable : kNeverEmpty) {
      if (name == variable) known = shows_something = true;
    }
    if (!known) return bad;
    at = close + 1;
  }
  if (!shows_something) return bad;
  return {};
}

Status check_shutdown_bits(int value) {
  if ((value & kShutdownSave) && (value & kShutdownNoSave)) {
    return Error{"shutdown options SAVE and NOSAVE can't be used simultaneously"};
  }
  return {};
}

}  // namespace sorrel::server
