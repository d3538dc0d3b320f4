#include "session/client_commands.h"

#include <fmt/format.h>

#include "session/session_fixture.h"

namespace sorrel::testing {
namespace {

class ClientTest : public SessionTest {
 protected:
  std::string kill(const Client& client, std::string_view filter) {
    return ask(client, fmt::format("CLIENT KILL {}\r\n", filter));
  }
};

TEST_F(ClientTest, IdIsTheConnectionsNumber) {
  auto one = connect();
  auto two = connect();
  EXPECT_EQ(ask(one, "CLIENT ID\r\n"), ":1\r\n");
  EXPECT_EQ(ask(two, "CLIENT ID\r\n"), ":2\r\n");
}

TEST_F(ClientTest, NamesAreOneWord) {
  auto client = connect();
  EXPECT_EQ(ask(client, "CLIENT GETNAME\r\n"), "$-1\r\n");
  EXPECT_EQ(ask(client, "CLIENT SETNAME a~!b\r\n"), "+OK\r\n");
  for (const char* bad : {"\"a b\"", "\"a\\n\"", "\"\\x7f\"", "\"\\xc3\\xa9\"", "\"a\\x00\""}) {
    EXPECT_EQ(ask(client, fmt::format("CLIENT SETNAME {}\r\n", bad)),
              "-ERR Client names cannot contain spaces, newlines or special characters.\r\n")
        << bad;
  }
  EXPECT_EQ(ask(client, "CLIENT GETNAME\r\n"), "$4\r\na~!b\r\n");
  EXPECT_EQ(ask(client, "CLIENT SETNAME \"\"\r\nCLIENT GETNAME\r\n"), "+OK\r\n$-1\r\n");
}

TEST_F(ClientTest, SetinfoNotesTheLibrary) {
  auto client = connect();
  EXPECT_EQ(ask(client, "CLIENT SETINFO lib-name redis.py\r\n"), "+OK\r\n");
  EXPECT_EQ(ask(client, "CLIENT SETINFO LIB-VER 1.2.3\r\n"), "+OK\r\n");
  EXPECT_EQ(ask(client, "CLIENT SETINFO lib-name \"a b\"\r\n"),
            "-ERR lib-name cannot contain spaces, newlines or special characters.\r\n");
  EXPECT_EQ(ask(client, "CLIENT SETINFO badger x\r\n"), "-ERR Unrecognized option 'badger'\r\n");
  EXPECT_EQ(session_of(client)->library_name, "redis.py");
  EXPECT_EQ(session_of(client)->library_version, "1.2.3");
}

TEST_F(ClientTest, KillByAddressIsTheOldForm) {
  auto killer = connect();
  auto victim = connect();
  EXPECT_EQ(kill(killer, "1.2.3.4:5"), "-ERR No such client\r\n");
  EXPECT_EQ(kill(killer, victim->address()), "+OK\r\n");
  EXPECT_TRUE(victim->closed_by_server());
  EXPECT_EQ(kill(killer, killer->address()), "+OK\r\n");
  EXPECT_TRUE(killer->closed_by_server());
  EXPECT_EQ(host().session_count(), 0u);
}

TEST_F(ClientTest, KillByFilters) {
  auto killer = connect();
  auto one = connect();
  auto two = connect();
  auto three = connect();
  EXPECT_EQ(kill(killer, fmt::format("ID {}", id_of(one))), ":1\r\n");
  EXPECT_TRUE(one->closed_by_server());
  EXPECT_EQ(kill(killer, "ID 1000"), ":0\r\n");
  EXPECT_EQ(kill(killer, "TYPE pubsub"), ":0\r\n");
  EXPECT_EQ(kill(killer, "LADDR 127.0.0.1:1"), ":0\r\n");
  // All conditions must hold.
  EXPECT_EQ(kill(killer, fmt::format("ID {} ADDR {}", id_of(two), three->address())), ":0\r\n");
  EXPECT_EQ(kill(killer, fmt::format("USER default LADDR 127.0.0.1:6379 ADDR {} TYPE normal",
                                     three->address())),
            ":1\r\n");
  EXPECT_TRUE(three->closed_by_server());
  EXPECT_FALSE(two->closed_by_server());
}

TEST_F(ClientTest, KillSparesTheCallerUnlessTold) {
  auto killer = connect();
  auto other = connect();
  EXPECT_EQ(kill(killer, fmt::format("ID {}", id_of(killer))), ":0\r\n");
  EXPECT_EQ(kill(killer, "SKIPME yes"), ":1\r\n");
  auto third = connect();
  // The answer comes first, then the end; nothing behind it runs.
  EXPECT_EQ(ask(killer, "CLIENT KILL SKIPME no\r\nPING\r\n"), ":2\r\n");
  EXPECT_TRUE(killer->closed_by_server());
  EXPECT_TRUE(third->closed_by_server());
}

TEST_F(ClientTest, KillByAge) {
  auto old = connect();
  advance(10'000);
  auto killer = connect();
  auto young = connect();
  EXPECT_EQ(kill(killer, "MAXAGE 11"), ":0\r\n");
  EXPECT_EQ(kill(killer, "MAXAGE 10"), ":1\r\n");
  EXPECT_TRUE(old->closed_by_server());
  EXPECT_FALSE(young->closed_by_server());
}

TEST_F(ClientTest, KillAnswersMistakes) {
  auto client = connect();
  EXPECT_EQ(ask(client, "CLIENT KILL\r\n"),
            "-ERR wrong number of arguments for 'client|kill' command\r\n");
  EXPECT_EQ(kill(client, "ID 10 wrong"), "-ERR syntax error\r\n");
  EXPECT_EQ(kill(client, "WRONG 10"), "-ERR syntax error\r\n");
  for (const char* id : {"x", "0", "-1", "9223372036854775808", ""}) {
    EXPECT_EQ(kill(client, fmt::format("ID \"{}\"", id)),
              "-ERR client-id should be greater than 0\r\n");
  }
  EXPECT_EQ(kill(client, "TYPE strange"), "-ERR Unknown client type 'strange'\r\n");
  EXPECT_EQ(kill(client, "USER strange"), "-ERR No such user 'strange'\r\n");
  EXPECT_EQ(kill(client, "SKIPME perhaps"), "-ERR syntax error\r\n");
  EXPECT_EQ(kill(client, "MAXAGE x"), "-ERR maxage is not an integer or out of range\r\n");
  EXPECT_EQ(kill(client, "MAXAGE 0"), "-ERR maxage should be greater than 0\r\n");
  EXPECT_FALSE(client->closed_by_server());
}

TEST_F(ClientTest, KillDropsWhatTheVictimHadPending) {
  auto killer = connect();
  auto victim = connect();
  victim->set_window(10);
  ask(victim, "GET 100000\r\n");
  EXPECT_EQ(kill(killer, "SKIPME yes"), ":1\r\n");
  EXPECT_TRUE(victim->closed_by_server());
  EXPECT_EQ(host().session_count(), 1u);
}

TEST_F(ClientTest, KillReachesOtherWorkers) {
  start(3);
  auto killer = connect(0);
  auto one = connect(1);
  auto two = connect(2);
  killer->push(fmt::format("CLIENT KILL ID {}\r\nCLIENT LIST\r\nCLIENT KILL ID {}\r\n", id_of(one),
                           id_of(one)));
  // The killer's turn alone: the victim has not been told, but it is gone for everybody.
  worker(0).loop.run();
  const std::string replies = killer->take();
  EXPECT_TRUE(replies.starts_with(":1\r\n"));
  EXPECT_TRUE(replies.ends_with(":0\r\n"));
  EXPECT_EQ(replies.find(one->address()), std::string::npos);
  EXPECT_NE(replies.find(two->address()), std::string::npos);
  EXPECT_FALSE(one->closed_by_server());
  // What reaches it now is not run any more.
  one->push("SET a b\r\n");
  run();
  EXPECT_TRUE(one->closed_by_server());
  EXPECT_EQ(one->take(), "");
  EXPECT_EQ(keyspace.key_count(0), 0u);
  EXPECT_EQ(worker(1).host.session_count(), 0u);
  EXPECT_FALSE(two->closed_by_server());
}

TEST_F(ClientTest, AVictimThatLeavesByItselfIsNoProblem) {
  start(2);
  auto killer = connect(0);
  auto victim = connect(1);
  victim->close();
  killer->push("CLIENT KILL SKIPME yes\r\n");
  worker(0).loop.run();
  run();
  EXPECT_EQ(killer->take(), ":1\r\n");
  EXPECT_EQ(worker(1).host.session_count(), 0u);
}

TEST_F(ClientTest, UnblockKnowsNobodyWhoWaits) {
  auto client = connect();
  EXPECT_EQ(ask(client, "CLIENT UNBLOCK 1\r\n"), ":0\r\n");
  EXPECT_EQ(ask(client, "CLIENT UNBLOCK 99 timeout\r\n"), ":0\r\n");
  EXPECT_EQ(ask(client, "CLIENT UNBLOCK 1 now\r\n"),
            "-ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR\r\n");
  EXPECT_EQ(ask(client, "CLIENT UNBLOCK x\r\n"),
            "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(ask(client, "CLIENT UNBLOCK 1 ERROR more\r\n"),
            "-ERR unknown subcommand or wrong number of arguments for 'UNBLOCK'. Try CLIENT "
            "HELP.\r\n");
}

TEST_F(ClientTest, PauseAnswersMistakes) {
  auto client = connect();
  EXPECT_EQ(ask(client, "CLIENT PAUSE x\r\n"),
            "-ERR timeout is not an integer or out of range\r\n");
  EXPECT_EQ(ask(client, "CLIENT PAUSE -1\r\n"), "-ERR timeout is negative\r\n");
  EXPECT_EQ(ask(client, "CLIENT PAUSE 1 reads\r\n"),
            "-ERR CLIENT PAUSE mode must be WRITE or ALL\r\n");
  EXPECT_EQ(ask(client, "CLIENT PAUSE 1 ALL more\r\n"),
            "-ERR unknown subcommand or wrong number of arguments for 'PAUSE'. Try CLIENT "
            "HELP.\r\n");
  EXPECT_EQ(ask(client, "CLIENT PAUSE 0\r\nPING\r\n"), "+OK\r\n+PONG\r\n");
  EXPECT_EQ(ask(client, "CLIENT UNPAUSE\r\n"), "+OK\r\n");
}

TEST_F(ClientTest, FlagsAreOnOrOff) {
  auto client = connect();
  EXPECT_EQ(ask(client, "CLIENT NO-EVICT on\r\nCLIENT NO-TOUCH on\r\n"), "+OK\r\n+OK\r\n");
  EXPECT_TRUE(session_of(client)->caller().no_evict);
  EXPECT_TRUE(session_of(client)->caller().no_touch);
  EXPECT_EQ(ask(client, "CLIENT NO-EVICT maybe\r\nCLIENT NO-TOUCH \"\"\r\n"),
            "-ERR syntax error\r\n-ERR syntax error\r\n");
  EXPECT_EQ(ask(client, "CLIENT NO-EVICT OFF\r\nCLIENT NO-TOUCH OFF\r\n"), "+OK\r\n+OK\r\n");
  EXPECT_FALSE(session_of(client)->caller().no_evict);
  EXPECT_FALSE(session_of(client)->caller().no_touch);
}

TEST_F(ClientTest, ReplyAnswersMistakes) {
  auto client = connect();
  EXPECT_EQ(ask(client, "CLIENT REPLY perhaps\r\n"), "-ERR syntax error\r\n");
}

TEST_F(ClientTest, HelpNamesEverySubcommand) {
  auto client = connect();
  const std::string help = ask(client, "CLIENT HELP\r\n");
  EXPECT_TRUE(help.starts_with("*54\r\n+CLIENT <subcommand> "));
  for (const auto& binding : client_bindings()) {
    std::string word(binding.name.substr(binding.name.find('|') + 1));
    for (char& c : word) c = static_cast<char>(std::toupper(c));
    EXPECT_NE(help.find("\r\n+" + word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace sorrel::testing
