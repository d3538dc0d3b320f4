#include "server/option_special.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/numbers.h"
#include "config/config_text.h"

namespace sorrel::server {

using config::format_byte_count;
using config::parse_byte_count;
using config::quoted_if_needed;

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

}  // namespace sorrel::server
