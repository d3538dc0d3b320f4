#include "server/migrate.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/numbers.h"
#include "commands/dump_payload.h"
#include "commands/keys_handlers.h"
#include "dispatch/call.h"
#include "dispatch/option_parser.h"
#include "resp/output_buffer.h"
#include "resp/reply_writer.h"

namespace sorrel::server {
namespace {

using Outcome = io::OutgoingLine::Outcome;

constexpr int64_t kKeepLineMs = 10'000;
// They live on the descriptors that the server keeps for itself (descriptor_limit.h).
constexpr size_t kMostLines = 6;
constexpr int64_t kDefaultTimeoutMs = 1000;
// A look-up holds for the commands that follow it; one that failed only until the command that it
// was made for has run.
constexpr int64_t kKeepAddressesMs = 10'000;
constexpr int64_t kKeepFailureMs = 1000;
constexpr size_t kMostNames = 64;
// Longer lines are no answer of a server of our kind.
constexpr size_t kLongestAnswer = 64 * 1024;

// 0: it is none.
int port_number(std::string_view text) {
  const auto port = parse_int64(text);
  return port && *port > 0 && *port <= 65535 ? static_cast<int>(*port) : 0;
}

struct Wanted {
  std::string host;
  std::string port;
  int64_t db = 0;
  int64_t timeout_ms = kDefaultTimeoutMs;
  bool copy = false;
  bool replace = false;
  std::vector<std::string_view> credentials;  // of AUTH; empty: none
  std::vector<size_t> keys;                   // positions
};

// nullopt: a mistake, which has been answered.
std::optional<Wanted> parse(Call& call) {
  Wanted wanted;
  wanted.host = call.arg(1);
  wanted.port = call.arg(2);
  wanted.keys = {3};
  OptionParser options(call.args, 6);
  while (options.more()) {
    if (options.word("COPY")) {
      wanted.copy = true;
    } else if (options.word("REPLACE")) {
      wanted.replace = true;
    } else if (options.word("AUTH", 1)) {
      wanted.credentials = {options.text()};
    } else if (options.word("AUTH2", 2)) {
      const std::string_view user = options.text();
      wanted.credentials = {user, options.text()};
    } else if (options.word("KEYS")) {
      if (!call.arg(3).empty()) {
        options.fail(
            "ERR When using MIGRATE KEYS option, the key argument must be set to the empty "
            "string");
        break;
      }
      wanted.keys.clear();
      for (size_t i = options.position(); i < call.argc(); i++) wanted.keys.push_back(i);
      break;
    } else {
      options.fail_syntax();
    }
  }
  if (options.failed()) {
    call.reply.error(options.error());
    return std::nullopt;
  }
  const auto timeout = parse_int64(call.arg(5));
  const auto db = parse_int64(call.arg(4));
  if (!timeout || !db) {
    answer::not_an_integer(call);
    return std::nullopt;
  }
  if (*timeout > 0) wanted.timeout_ms = *timeout;
  wanted.db = *db;
  return wanted;
}

void append_command(resp::OutputBuffer& out, std::span<const std::string_view> words) {
  resp::append_array_header(out, words.size());
  for (const std::string_view word : words) resp::append_bulk(out, word);
}

// The keys that are there, as RESTOREs, one behind the other.
struct Cargo {
  std::vector<size_t> keys;  // positions
  resp::OutputBuffer commands;
};

void load(Call& call, const Wanted& wanted, Cargo& cargo) {
  for (const size_t at : wanted.keys) {
    const Record* record = call.keys.read(call.key(at));
    if (record == nullptr) continue;
    // No deadline is 0 there, so what is about to end has a millisecond.
    const std::string ttl = std::to_string(
        record->has_expiry() ? std::max<int64_t>(record->expiry() - call.now_ms(), 1) : 0);
    const std::string payload = commands::dump_payload(*record, call.keys.keyspace());
    std::vector<std::string_view> words{"RESTORE", call.arg(at), ttl, payload};
    if (wanted.replace) words.emplace_back("REPLACE");
    append_command(cargo.commands, words);
    cargo.keys.push_back(at);
  }
}

// What the other side says, line by line.
class Answers {
 public:
  Answers(io::OutgoingLine& line, int64_t timeout_ms) : line_(line), timeout_ms_(timeout_ms) {}

  // An answer that is neither "+..." nor "-..." is as good as none.
  Outcome next(std::string& answer) {
    size_t end = 0;
    while ((end = text_.find("\r\n", at_)) == std::string::npos) {
      if (text_.size() - at_ > kLongestAnswer) return Outcome::kGone;
      text_.erase(0, std::exchange(at_, 0));
      if (const Outcome got = line_.receive(text_, timeout_ms_); got != Outcome::kDone) return got;
    }
    answer = text_.substr(at_, end - at_);
    at_ = end + 2;
    const bool sound = answer.starts_with('+') || answer.starts_with('-');
    return sound ? Outcome::kDone : Outcome::kGone;
  }

 private:
  io::OutgoingLine& line_;
  int64_t timeout_ms_;
  std::string text_;
  size_t at_ = 0;
};

// One try to hand a cargo over.
struct Transfer {
  Outcome outcome = Outcome::kDone;
  bool while_writing = false;
  std::string refusal;            // the first error that the other side has answered
  std::vector<size_t> delivered;  // positions of keys

  void go(Migrate::Line& line, const Wanted& wanted, const Cargo& cargo) {
    resp::OutputBuffer opening;
    size_t openings = 0;
    if (!wanted.credentials.empty()) {
      std::vector<std::string_view> words{"AUTH"};
      words.insert(words.end(), wanted.credentials.begin(), wanted.credentials.end());
      append_command(opening, words);
      openings++;
    }
    if (line.db != wanted.db) {
      const std::string number = std::to_string(wanted.db);
      const std::string_view words[] = {"SELECT", number};
      append_command(opening, words);
      openings++;
    }
    // Until all has gone well nobody knows what it has selected.
    line.db = -1;
    while_writing = true;
    outcome = line.io.send(opening.view(), wanted.timeout_ms);
    if (outcome == Outcome::kDone) {
      outcome = line.io.send(cargo.commands.view(), wanted.timeout_ms);
    }
    if (outcome != Outcome::kDone) return;
    while_writing = false;
    Answers answers(line.io, wanted.timeout_ms);
    std::string answer;
    for (size_t i = 0; i < openings + cargo.keys.size(); i++) {
      outcome = answers.next(answer);
      if (outcome != Outcome::kDone) return;
      if (answer.starts_with('-')) {
        if (refusal.empty()) refusal = answer.substr(1);
        opened_ = opened_ && i >= openings;
      } else if (i >= openings && opened_) {
        delivered.push_back(cargo.keys[i - openings]);
      }
    }
    if (refusal.empty()) line.db = wanted.db;
  }

 private:
  bool opened_ = true;  // the other side has let us in, and to the right database
};

}  // namespace

std::vector<Binding> Migrate::bindings() {
  return {{"migrate", &Migrate::run, this, nullptr, &Migrate::prepare}};
}

void Migrate::cron() {
  std::erase_if(lines_,
                [&](const auto& kept) { return now_ms() - kept.second.used_ms > kKeepLineMs; });
}

// The look-up of a name, while other workers go on. Its result waits for the exclusive section.
void Migrate::prepare(const Command& command, std::span<const std::string_view> args) {
  const std::string host(args[1]);
  const int port = port_number(args[2]);
  if (io::numeric_address(host, port)) return;
  (void)static_cast<Migrate*>(command.context)->find_addresses(host, port);
}

Result<io::SocketAddresses> Migrate::find_addresses(const std::string& host, int port) {
  if (const auto numeric = io::numeric_address(host, port)) return io::SocketAddresses{*numeric};
  const std::string name = host + ":" + std::to_string(port);
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(found_, [&](const auto& one) { return one.second.until_ms < now_ms(); });
    if (const auto known = found_.find(name); known != found_.end()) return known->second.addresses;
  }
  auto addresses = io::look_up_host(host, port);
  const std::lock_guard lock(mutex_);
  if (found_.size() >= kMostNames) found_.clear();
  const int64_t until_ms = now_ms() + (addresses ? kKeepAddressesMs : kKeepFailureMs);
  found_.insert_or_assign(name, Found{addresses, until_ms});
  return addresses;
}

std::string Migrate::line_name(const std::string& address) const {
  const auto tls = tls_();
  return tls && *tls == nullptr ? address : "tls " + address;
}

Result<Migrate::Lines::iterator> Migrate::open_line(const std::string& address,
                                                    const std::string& host, int port,
                                                    int64_t timeout_ms) {
  const auto tls = tls_();
  if (!tls) return tls.error();
  const auto addresses = find_addresses(host, port);
  if (!addresses) return addresses.error();
  auto made = io::OutgoingLine::connect(*addresses, timeout_ms, tls->get(), host);
  if (!made) return made.error();
  if (lines_.size() >= kMostLines) lines_.erase(lines_.begin());
  return lines_.emplace(address, Line{std::move(*made)}).first;
}

namespace {

// Hands the cargo over, with a line that is kept or a new one. False: there is no line, which has
// been answered.
bool deliver(Call& call, const Wanted& wanted, const Cargo& cargo, Transfer& transfer) {
  auto& migrate = call.context<Migrate>();
  auto& lines = migrate.lines();
  const std::string address = migrate.line_name(wanted.host + ":" + wanted.port);
  // A line that was kept may have been closed by the other side, which is no fault of the request.
  for (bool again = true; again;) {
    auto kept = lines.find(address);
    again = kept != lines.end();
    if (!again) {
      const auto made =
          migrate.open_line(address, wanted.host, port_number(wanted.port), wanted.timeout_ms);
      if (!made) {
        call.reply.error("IOERR error or timeout connecting to the client");
        return false;
      }
      kept = *made;
    }
    kept->second.used_ms = migrate.clock().monotonic_ns() / 1'000'000;
    transfer = {};
    transfer.go(kept->second, wanted, cargo);
    if (transfer.outcome == Outcome::kDone) break;
    lines.erase(kept);
    again = again && transfer.outcome == Outcome::kGone && transfer.delivered.empty();
  }
  return true;
}

}  // namespace

void Migrate::run(Call& call) {
  const auto wanted = parse(call);
  if (!wanted) return;
  Cargo cargo;
  load(call, *wanted, cargo);
  if (cargo.keys.empty()) return call.reply.simple("NOKEY");

  Transfer transfer;
  if (!deliver(call, *wanted, cargo, transfer)) return;

  if (!wanted->copy && !transfer.delivered.empty()) {
    std::vector<std::string> deletion{"DEL"};
    for (const size_t at : transfer.delivered) {
      Entry entry = call.keys.open(call.key(at));
      if (!entry) continue;
      entry.erase(commands::keys::kDelEvent, Freeing::kDeleted);
      deletion.emplace_back(call.arg(at));
    }
    call.rewrite.as(std::move(deletion));
  }
  if (!transfer.refusal.empty()) {
    return call.reply.error("ERR Target instance replied with error: " + transfer.refusal);
  }
  if (transfer.outcome != Outcome::kDone) {
    return call.reply.error(transfer.while_writing
                                ? "IOERR error or timeout writing to target instance"
                                : "IOERR error or timeout reading to target instance");
  }
  call.reply.ok();
}

}  // namespace sorrel::server
