#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "acl/check.h"
#include "base/numbers.h"
#include "dispatch/transaction.h"
#include "keyspace/key_tracer.h"
#include "resp/reply_writer.h"
#include "server/request_maker.h"
#include "server/server.h"

// Random requests of every command, run by users that may use some keys only, while a tracer hears
// of every key that is looked for. The invariants:
// - Commands look for keys that catalog::extract_keys() names, and for no others.
// - No key is looked for that a restricted user may not use, be it in a request, a script or a
//   transaction.
// - ACL DRYRUN tells what the check of the request itself says.

namespace sorrel::server {
namespace {

using sorrel::testing::RequestMaker;

// These end or stop the process, fork, write files, change users and settings, or take seconds.
constexpr std::string_view kNotRun[] = {
    "shutdown",     "debug",       "save",        "bgsave",        "bgrewriteaof", "client|pause",
    "config|set",   "acl|setuser", "acl|load",    "acl|deluser",   "acl|save",     "config|rewrite",
    "script|debug", "module|load", "script|kill", "function|kill", "pfselftest",
};

// They write into a value what only reading it has brought about: a cached count, the positions of
// a group. Redis asks for the permission to read.
constexpr std::string_view kWriteWithReadPermission[] = {"pfcount", "pfdebug", "touch",
                                                         "xreadgroup"};

template <class List>
bool is_among(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

class Trace final : public KeyTracer {
 public:
  struct Look {
    int db;
    std::string key;
    For what;
  };
  void on_look(int db, std::string_view key, For what) override {
    looks.push_back({db, std::string(key), what});
  }
  std::vector<Look> looks;
};

// A whole server of two workers, which look for keys without guessing; it never runs.
class KeyAccess : public ::testing::TestWithParam<uint64_t> {
 protected:
  using Words = RequestMaker::Words;

  KeyAccess() : maker_(GetParam()) {
    char folder[] = "/tmp/sorrel-key-access-test-XXXXXX";
    folder_ = mkdtemp(folder);
    Options options;
    options.network.port = 0;
    options.network.unix_socket = folder_ + "/socket";
    options.process.threads = 2;
    options.persistence.dir = folder_;
    server_ = std::make_unique<Server>(options, clock_, log_, config::FileAccess{});
    const Status started = server_->start();
    EXPECT_TRUE(started) << started.error().text;
    executor_ = &server_->workers()[0]->executor();
    executor_->door().set_tracer(&trace_);
    for (const auto& command : server_->commands().all()) {
      if (command->handler != nullptr && !is_among(kNotRun, command->name)) {
        commands_.push_back(command.get());
      }
    }
    for (Caller* caller : {&admin_, &user_}) {
      // Not of a session: commands about connections answer an error, and no others.
      caller->kind = Caller::Kind::kBlocked;
      caller->account = server_->sessions().users.default_account();
    }
    user_.transaction = &transaction_;
    run(admin_, {"FUNCTION", "LOAD",
                 "#!lua name=l\nredis.register_function{function_name="
                 "'readkeys', callback=function(k) return redis.pcall('GET', k[1] or 'a:string') "
                 "end, flags={'no-writes'}}"});
  }
  ~KeyAccess() override {
    server_->hub().watches().clear(transaction_.watcher);
    server_.reset();
    (void)unlink((folder_ + "/socket").c_str());
    (void)rmdir(folder_.c_str());
  }

  // Answers in RESP2; what was looked for is in trace_.
  std::string run(Caller& caller, const Words& words) {
    const std::vector<std::string_view> args(words.begin(), words.end());
    resp::OutputBuffer out;
    resp::ReplyWriter writer(out, 2);
    trace_.looks.clear();
    executor_->enter();
    executor_->begin_batch(clock_.wall_ms());
    Request request;
    request.args = args;
    executor_->requests().prepare({&request, 1}, caller.db);
    executor_->execute(request, caller, writer);
    executor_->effects().flush();
    executor_->leave();
    return std::string(out.view());
  }

  // A value of each type under each prefix.
  void fill() {
    run(admin_, {"FLUSHALL"});
    for (const char* prefix : RequestMaker::kPrefixes) {
      const auto key = [prefix](const char* name) { return std::string(prefix) + name; };
      run(admin_, {"SET", key("string"), "1"});
      run(admin_, {"RPUSH", key("list"), "1", "2", "3"});
      run(admin_, {"SADD", key("set"), "1", "2", "m"});
      run(admin_, {"ZADD", key("zset"), "1", "m", "2", "1"});
      run(admin_, {"HSET", key("hash"), "f", "1", "m", "2"});
      run(admin_, {"PFADD", key("hll"), "1", "2"});
      run(admin_, {"GEOADD", key("geo"), "1", "1", "m"});
      run(admin_, {"XADD", key("stream"), "1-1", "f", "1"});
      run(admin_, {"XGROUP", "CREATE", key("stream"), "g", "0"});
    }
  }

  // "u", with other rules each time.
  void make_user() {
    acl::Users& users = server_->sessions().users;
    const Words rules = maker_.rules();
    std::vector<std::string_view> views(rules.begin(), rules.end());
    auto user = users.with_rules("u", views);
    ASSERT_TRUE(user.ok()) << user.error().text;
    users.put(std::move(*user));
    be_restricted();
  }
  void be_restricted() {
    user_.account = server_->sessions().users.find("u");
    user_.set_reason(Caller::kRestricted, user_.account->user().restricted());
  }
  void be_unrestricted() {
    user_.account = server_->sessions().users.default_account();
    user_.set_reason(Caller::kRestricted, false);
  }

  static std::string shown(const Words& words) {
    std::string text;
    for (const std::string& word : words) text += "'" + word + "' ";
    return text;
  }

  bool covers(const acl::Selector& selector, const catalog::CommandSpec& command,
              const Words& words) const {
    return std::all_of(trace_.looks.begin(), trace_.looks.end(), [&](const Trace::Look& look) {
      // COPY opens the source as it opens the other.
      const bool only_reads = is_among(kWriteWithReadPermission, command.name) ||
                              (command.name == "copy" && look.key == words[1]);
      const bool writes = look.what == KeyTracer::For::kWriting && !only_reads;
      return selector.covers_key(look.key, writes ? acl::kWrite : 0);
    });
  }
  void expect_allowed_looks(const catalog::CommandSpec& command, const Words& words,
                            const char* how) {
    looks_ += trace_.looks.size();
    const acl::User& user = server_->sessions().users.find("u")->user();
    const bool covered = user.any_selector(
        [&](const acl::Selector& selector) { return covers(selector, command, words); });
    std::string keys;
    for (const auto& look : trace_.looks) keys += look.key + " ";
    EXPECT_TRUE(covered) << how << ": " << shown(words) << "looked for " << keys << "as "
                         << user.describe();
  }

  void expect_named_looks(const catalog::CommandSpec& spec, const Words& words) {
    const std::vector<std::string_view> args(words.begin(), words.end());
    std::vector<catalog::KeyPosition> keys;
    const catalog::KeyError found = catalog::extract_keys(spec, args, keys);
    if (found == catalog::KeyError::kMoreByContent || spec.group == catalog::Group::kScripting)
      return;
    if (found == catalog::KeyError::kBadArguments) keys.clear();
    for (const Trace::Look& look : trace_.looks) {
      const bool named = std::any_of(keys.begin(), keys.end(), [&](const auto& key) {
        return args[key.position] == look.key;
      });
      EXPECT_TRUE(named) << shown(words) << "looked for " << look.key;
    }
  }

  static bool is_refusal(const std::string& reply) {
    return reply.starts_with("-NOPERM") ||
           reply.find("denied due to insufficient ACL permissions") != std::string::npos;
  }

  void expect_dry_run_agrees(const std::string& dry, const std::string& reply, const Words& words) {
    if (dry.starts_with("-")) return;
    (dry == "+OK\r\n" ? allowed_ : refused_)++;
    EXPECT_EQ(is_refusal(reply), dry != "+OK\r\n")
        << shown(words) << "\n"
        << dry << reply << user_.account->user().describe();
  }

  void try_one(const Command& command) {
    const catalog::CommandSpec& spec = *command.spec;
    const Words words = maker_.request(spec);
    user_.db = admin_.db = 0;
    run(admin_, words);
    expect_named_looks(spec, words);

    Words dry_words = {"ACL", "DRYRUN", "u"};
    dry_words.insert(dry_words.end(), words.begin(), words.end());
    admin_.db = 0;
    const std::string dry = run(admin_, dry_words);
    if (spec.name != "exec") {
      const std::string reply = run(user_, words);
      expect_allowed_looks(spec, words, "request");
      if (spec.group != catalog::Group::kScripting) expect_dry_run_agrees(dry, reply, words);
      EXPECT_TRUE(!is_refusal(reply) || trace_.looks.empty()) << shown(words);
    }
    leave_transaction();

    Words script = {"EVAL", "return redis.pcall(unpack(ARGV))", "0"};
    script.insert(script.end(), words.begin(), words.end());
    run(user_, script);
    expect_allowed_looks(spec, words, "script");

    run(user_, {"MULTI"});
    run(user_, words);
    run(user_, {"EXEC"});
    expect_allowed_looks(spec, words, "transaction");
    leave_transaction();

    // Rights that are taken away before EXEC.
    be_unrestricted();
    run(user_, {"MULTI"});
    run(user_, words);
    be_restricted();
    run(user_, {"EXEC"});
    expect_allowed_looks(spec, words, "transaction of before");
    leave_transaction();
  }

  void leave_transaction() {
    user_.db = 0;
    if (transaction_.open()) run(user_, {"DISCARD"});
    run(user_, {"UNWATCH"});
    be_restricted();
  }

  RequestMaker maker_;
  std::string folder_;
  io::SystemClock clock_;
  NullLogger log_;
  Trace trace_;
  Transaction transaction_;
  std::unique_ptr<Server> server_;
  Executor* executor_ = nullptr;
  Caller admin_;
  Caller user_;
  std::vector<const Command*> commands_;
  size_t looks_ = 0;
  size_t allowed_ = 0;
  size_t refused_ = 0;
};

TEST_P(KeyAccess, NoKeyIsTouchedThatTheUserMayNotUse) {
  constexpr int kRounds = 10;  // over all commands
  for (int round = 0; round < kRounds; round++) {
    size_t done = 0;
    for (const Command* command : commands_) {
      constexpr size_t kRequestsOfOneUser = 40;
      if (done++ % kRequestsOfOneUser == 0) {
        fill();
        make_user();
      }
      try_one(*command);
      if (HasFailure()) return;
    }
  }
  // Otherwise nothing is proved.
  EXPECT_GT(looks_, 500u);
  EXPECT_GT(allowed_, 100u);
  EXPECT_GT(refused_, 100u);
}

// So that none of them escapes by not being run.
TEST_P(KeyAccess, CommandsThatAreNotRunNameNoKeys) {
  for (std::string_view name : kNotRun) {
    const catalog::CommandSpec* spec = catalog::find_full(name);
    ASSERT_NE(spec, nullptr) << name;
    EXPECT_TRUE(spec->keys.empty()) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, KeyAccess, ::testing::Values(1, 2, 3));

}  // namespace
}  // namespace sorrel::server
