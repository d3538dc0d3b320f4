#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "commands/test_harness.h"
#include "dispatch/transaction.h"
#include "dispatch/transaction_commands.h"

// The preparation of a command before its exclusive section (name look-up) blocks no other worker.

namespace sorrel::commands {
namespace {

// A substitute for MIGRATE.
struct Probe {
  TestServer* server = nullptr;
  std::vector<std::string> prepared;      // the hosts
  std::vector<std::future<void>> others;  // not joined while one of them may have to wait
  int others_ran = 0;
  int ran = 0;
};

void prepare(const Command& command, std::span<const std::string_view> args) {
  Probe& probe = *static_cast<Probe*>(command.context);
  probe.prepared.emplace_back(args[1]);
  auto other = std::async(std::launch::async, [&probe] {
    Caller caller;
    NotationSink sink;
    const std::string_view words[] = {"SET", "other", "1"};
    probe.server->execute_on(probe.server->worker(1), caller, words, sink);
  });
  if (other.wait_for(std::chrono::seconds(10)) == std::future_status::ready) probe.others_ran++;
  probe.others.push_back(std::move(other));
}

void run(Call& call) {
  call.context<Probe>().ran++;
  call.reply.ok();
}

class Prepare : public ::testing::Test {
 protected:
  std::string say(const std::vector<std::string_view>& words) {
    NotationSink sink;
    server_.execute_on(server_.worker(0), caller_, words, sink);
    return sink.text();
  }

  Probe probe_;
  const std::vector<Binding> probe_bindings_{{"migrate", &run, &probe_, nullptr, &prepare}};
  ChangeHub hub_;
  const std::vector<Binding> transactions_ = transaction_bindings(hub_);
  TestServer server_{{string_bindings(), string_set_bindings(), transactions_, probe_bindings_},
                     kFourWorkers};
  Transaction transaction_;
  Caller caller_;
};

TEST_F(Prepare, OtherWorkersGoOn) {
  probe_.server = &server_;
  server_.no_observers();
  caller_.transaction = &transaction_;
  EXPECT_EQ(say({"MIGRATE", "a.example", "6379", "k", "0", "9"}), "OK");
  EXPECT_EQ(probe_.prepared, (std::vector<std::string>{"a.example"}));
  EXPECT_EQ(probe_.others_ran, 1);
  EXPECT_EQ(say({"MULTI"}), "OK");
  EXPECT_EQ(say({"SET", "k", "v"}), "QUEUED");
  EXPECT_EQ(say({"MIGRATE", "b.example", "6379", "k", "0", "9"}), "QUEUED");
  EXPECT_EQ(say({"MIGRATE", "c.example", "6379", "k", "0", "9"}), "QUEUED");
  EXPECT_EQ(probe_.ran, 1);
  EXPECT_EQ(say({"EXEC"}), "[OK, OK, OK]");
  EXPECT_EQ(probe_.prepared, (std::vector<std::string>{"a.example", "b.example", "c.example"}));
  EXPECT_EQ(probe_.others_ran, 3);
  EXPECT_EQ(probe_.ran, 3);
}

}  // namespace
}  // namespace sorrel::commands
