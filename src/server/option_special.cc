#include "server/option_special.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/bytes.h"
#include "base/numbers.h"
#include "server/config_text.h"

namespace sorrel::server {
namespace {

constexpr size_t kMaxBindAddresses = 16;
constexpr int64_t kMaxOomScore = 2000;

// Redis reads these numbers with strtoll, which takes a plus sign and leading zeros.
std::optional<int64_t> lenient_integer(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  while (text.size() > 1 && text[0] == '0') text.remove_prefix(1);
  const std::optional<int64_t> value = parse_int64(text);
  if (!value) return std::nullopt;
  return negative ? -*value : *value;
}

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, " "));
}

bool is_one_empty(Arguments args) {
  return args.size() == 1 && args[0].empty();
}

// Six digits after the point, without the zeros at the end.
std::string format_percentile(double value) {
  std::string text = fmt::format("{:f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string format_limit(std::string_view name, const OutputLimit& limit) {
  return fmt::format("{} {} {} {}", name, limit.hard_bytes, limit.soft_bytes, limit.soft_seconds);
}

OutputLimit* limit_of_class(ClientOptions& clients, std::string_view name) {
  if (iequals(name, "normal")) return &clients.normal_output;
  if (iequals(name, "slave") || iequals(name, "replica")) return &clients.replica_output;
  if (iequals(name, "pubsub")) return &clients.pubsub_output;
  return nullptr;
}

struct EventLetter {
  char letter;
  uint32_t bit;
};
// In the order in which CONFIG GET shows them.
constexpr EventLetter kEventLetters[] = {
    {'g', kEventGeneric},  {'$', kEventString},  {'l', kEventList},    {'s', kEventSet},
    {'h', kEventHash},     {'z', kEventZset},    {'x', kEventExpired}, {'e', kEventEvicted},
    {'t', kEventStream},   {'d', kEventModule},  {'n', kEventNew},     {'K', kEventKeyspace},
    {'E', kEventKeyevent}, {'m', kEventKeyMiss},
};

uint32_t bits_of_letter(char letter) {
  if (letter == 'A') return kEventAll;
  for (const EventLetter& known : kEventLetters) {
    if (known.letter == letter) return known.bit;
  }
  return 0;
}

// Names of hosts and interfaces, numeric addresses, '*', a leading '-': printable, no quotes.
bool may_be_address(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\''; });
}

bool is_path(std::string_view text) {
  return text.find('/') != std::string_view::npos;
}

}  // namespace

// --- bind
// -----------------------------------------------------------------------------------------

Status parse_bind(Options& options, Arguments args, Repeat) {
  if (args.size() > kMaxBindAddresses) return Error{"Too many bind addresses specified."};
  if (is_one_empty(args)) args = {};
  if (!std::all_of(args.begin(), args.end(), may_be_address)) {
    return Error{"Invalid bind address"};
  }
  options.network.bind.assign(args.begin(), args.end());
  return {};
}

std::string show_bind(const Options& options) {
  return joined(options.network.bind);
}

std::vector<std::string> bind_lines(const Options& options) {
  if (options.network.bind.empty()) return {"\"\""};
  std::vector<std::string> parts;
  for (const std::string& address : options.network.bind) {
    parts.push_back(quoted_if_needed(address));
  }
  return {joined(parts)};
}

// --- save
// -----------------------------------------------------------------------------------------

Status parse_save(Options& options, Arguments args, Repeat repeat) {
  std::vector<SavePoint> points;
  if (repeat == Repeat::kAdds && !is_one_empty(args)) points = options.persistence.save;
  if (is_one_empty(args)) args = {};
  if (args.size() % 2 != 0) return Error{"Invalid save parameters"};
  for (size_t i = 0; i < args.size(); i += 2) {
    const std::optional<int64_t> seconds = lenient_integer(args[i]);
    const std::optional<int64_t> changes = lenient_integer(args[i + 1]);
    if (!seconds || !changes || *seconds < 1 || *changes < 0) {
      return Error{"Invalid save parameters"};
    }
    points.push_back({*seconds, *changes});
  }
  options.persistence.save = std::move(points);
  return {};
}

std::string show_save(const Options& options) {
  if (options.persistence.save.empty()) return "";
  return joined(save_lines(options));
}

std::vector<std::string> save_lines(const Options& options) {
  // Without any line the built-in save points would come back on the next start.
  if (options.persistence.save.empty()) return {"\"\""};
  std::vector<std::string> lines;
  for (const SavePoint& point : options.persistence.save) {
    lines.push_back(fmt::format("{} {}", point.seconds, point.changes));
  }
  return lines;
}

// --- dir
// ------------------------------------------------------------------------------------------

Status parse_dir(Options& options, Arguments args, Repeat) {
  if (args.size() != 1) return Error{"wrong number of arguments"};
  options.persistence.dir = args[0];
  return {};
}

std::string show_dir(const Options& options) {
  return options.persistence.dir;
}

std::vector<std::string> dir_lines(const Options& options) {
  if (options.persistence.dir.empty()) return {};
  return {quoted(options.persistence.dir)};
}

// --- client-output-buffer-limit
// -------------------------------------------------------------------

Status parse_output_limits(Options& options, Arguments args, Repeat) {
  if (args.size() % 4 != 0) {
    return Error{"Wrong number of arguments in buffer limit configuration."};
  }
  ClientOptions changed = options.clients;
  for (size_t i = 0; i < args.size(); i += 4) {
    OutputLimit* limit = limit_of_class(changed, args[i]);
    if (limit == nullptr) {
      return Error{"Invalid client class specified in buffer limit configuration."};
    }
    const std::optional<uint64_t> hard = parse_byte_count(args[i + 1]);
    const std::optional<uint64_t> soft = parse_byte_count(args[i + 2]);
    const std::optional<int64_t> seconds = lenient_integer(args[i + 3]);
    if (!hard || !soft || !seconds || *seconds < 0) {
      return Error{"Error in hard, soft or soft_seconds setting in buffer limit configuration."};
    }
    *limit = {*hard, *soft, *seconds};
  }
  options.clients = std::move(changed);
  return {};
}

std::string show_output_limits(const Options& options) {
  // "slave", not "replica": it is what Redis answers here, and what tools look for.
  return format_limit("normal", options.clients.normal_output) + " " +
         format_limit("slave", options.clients.replica_output) + " " +
         format_limit("pubsub", options.clients.pubsub_output);
}

std::vector<std::string> output_limit_lines(const Options& options) {
  const auto line = [](std::string_view name, const OutputLimit& limit) {
    return fmt::format("{} {} {} {}", name, format_byte_count(limit.hard_bytes),
                       format_byte_count(limit.soft_bytes), limit.soft_seconds);
  };
  return {line("normal", options.clients.normal_output),
          line("replica", options.clients.replica_output),
          line("pubsub", options.clients.pubsub_output)};
}

// --- oom-score-adj-values
// -------------------------------------------------------------------------

Status parse_oom_values(Options& options, Arguments args, Repeat) {
  std::array<int64_t, 3> values{};
  if (args.size() != values.size()) return Error{"wrong number of arguments"};
  for (size_t i = 0; i < values.size(); i++) {
    const std::optional<int64_t> value = lenient_integer(args[i]);
    if (!value || *value < -kMaxOomScore || *value > kMaxOomScore) {
      return Error{"Invalid oom-score-adj-values, elements must be between -2000 and 2000."};
    }
    values[i] = *value;
  }
  options.process.oom_score_adj_values = values;
  return {};
}

std::string show_oom_values(const Options& options) {
  return fmt::format("{}", fmt::join(options.process.oom_score_adj_values, " "));
}

std::vector<std::string> oom_value_lines(const Options& options) {
  return {show_oom_values(options)};
}

// --- notify-keyspace-events
// -----------------------------------------------------------------------

Status parse_keyspace_events(Options& options, Arguments args, Repeat) {
  if (args.size() != 1) return Error{"wrong number of arguments"};
  uint32_t bits = 0;
  for (char letter : args[0]) {
    const uint32_t more = bits_of_letter(letter);
    if (more == 0) return Error{"Invalid event class character. Use 'Ag$lshzxeKEtmdn'."};
    bits |= more;
  }
  options.monitor.keyspace_events = bits;
  return {};
}

std::string show_keyspace_events(const Options& options) {
  uint32_t rest = options.monitor.keyspace_events;
  std::string text;
  if ((rest & kEventAll) == kEventAll) {
    text = "A";
    rest &= ~kEventAll;
  }
  for (const EventLetter& known : kEventLetters) {
    if (rest & known.bit) text += known.letter;
  }
  return text;
}

std::vector<std::string> keyspace_event_lines(const Options& options) {
  return {quoted(show_keyspace_events(options))};
}

// --- replicaof
// ------------------------------------------------------------------------------------

Status parse_replicaof(Options& options, Arguments args, Repeat) {
  if (args.size() != 2) return Error{"wrong number of arguments"};
  ReplicationOptions& replication = options.replication;
  if (iequals(args[0], "no") && iequals(args[1], "one")) {
    replication.primary_host.clear();
    replication.primary_port = 0;
    return {};
  }
  const std::optional<int64_t> port = lenient_integer(args[1]);
  if (!port || *port < 0 || *port > 65535) return Error{"Invalid master port"};
  replication.primary_host = args[0];
  replication.primary_port = *port;
  return {};
}

std::string show_replicaof(const Options& options) {
  const ReplicationOptions& replication = options.replication;
  if (replication.primary_host.empty()) return "";
  return fmt::format("{} {}", replication.primary_host, replication.primary_port);
}

std::vector<std::string> replicaof_lines(const Options& options) {
  const ReplicationOptions& replication = options.replication;
  if (replication.primary_host.empty()) return {};
  return {
      fmt::format("{} {}", quoted_if_needed(replication.primary_host), replication.primary_port)};
}

// --- latency-tracking-info-percentiles
// ------------------------------------------------------------

Status parse_percentiles(Options& options, Arguments args, Repeat) {
  if (is_one_empty(args)) args = {};
  std::vector<double> percentiles;
  for (const std::string& arg : args) {
    const std::optional<double> value = parse_double(arg);
    if (!value) return Error{"Invalid latency-tracking-info-percentiles parameters"};
    if (*value < 0.0 || *value > 100.0) {
      return Error{"latency-tracking-info-percentiles parameters should sit between [0.0,100.0]"};
    }
    percentiles.push_back(*value);
  }
  options.monitor.latency_percentiles = std::move(percentiles);
  return {};
}

std::string show_percentiles(const Options& options) {
  std::vector<std::string> parts;
  for (double value : options.monitor.latency_percentiles)
    parts.push_back(format_percentile(value));
  return joined(parts);
}

std::vector<std::string> percentile_lines(const Options& options) {
  if (options.monitor.latency_percentiles.empty()) return {"\"\""};
  return {show_percentiles(options)};
}

// --- checks
// ---------------------------------------------------------------------------------------

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

// --- byte counts
// ----------------------------------------------------------------------------------

std::optional<uint64_t> parse_byte_count(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') digits++;
  const std::string unit = lower_copy(text.substr(digits));
  uint64_t factor = 0;
  if (unit.empty() || unit == "b") factor = 1;
  if (unit == "k") factor = 1000;
  if (unit == "kb") factor = 1024;
  if (unit == "m") factor = 1000 * 1000;
  if (unit == "mb") factor = 1024 * 1024;
  if (unit == "g") factor = 1000 * 1000 * 1000;
  if (unit == "gb") factor = 1024 * 1024 * 1024;
  if (factor == 0) return std::nullopt;
  uint64_t value = 0;
  for (char c : text.substr(0, digits)) {
    if (__builtin_mul_overflow(value, uint64_t{10}, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, static_cast<uint64_t>(c - '0'), &value)) return std::nullopt;
  }
  if (__builtin_mul_overflow(value, factor, &value)) return std::nullopt;
  return value;
}

std::string format_byte_count(uint64_t bytes) {
  if (bytes == 0) return "0";
  if (bytes % (1u << 30) == 0) return fmt::format("{}gb", bytes >> 30);
  if (bytes % (1u << 20) == 0) return fmt::format("{}mb", bytes >> 20);
  if (bytes % (1u << 10) == 0) return fmt::format("{}kb", bytes >> 10);
  return fmt::format("{}", bytes);
}

}  // namespace sorrel::server
