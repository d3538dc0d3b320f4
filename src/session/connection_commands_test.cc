#include "session/connection_commands.h"

#include "session/session_fixture.h"

namespace sorrel::testing {
namespace {

class ConnectionTest : public SessionTest {};

constexpr std::string_view kWrongPass =
    "-WRONGPASS invalid username-password pair or user is disabled.\r\n";

TEST_F(ConnectionTest, PingAndEcho) {
  auto client = connect();
  EXPECT_EQ(ask(client, "PING\r\n"), "+PONG\r\n");
  EXPECT_EQ(ask(client, "PING \"\"\r\n"), "$0\r\n\r\n");
  EXPECT_EQ(ask(client, "PING a b\r\n"), "-ERR wrong number of arguments for 'ping' command\r\n");
  EXPECT_EQ(ask(client, "ECHO \"a\\x00b\"\r\n"), std::string("$3\r\na\0b\r\n", 9));
}

TEST_F(ConnectionTest, SelectChecksItsIndex) {
  auto client = connect();
  EXPECT_EQ(ask(client, "SELECT 15\r\n"), "+OK\r\n");
  EXPECT_EQ(session_of(client)->caller().db, 15);
  EXPECT_EQ(ask(client, "SELECT 16\r\n"), "-ERR DB index is out of range\r\n");
  EXPECT_EQ(ask(client, "SELECT -1\r\n"), "-ERR DB index is out of range\r\n");
  EXPECT_EQ(ask(client, "SELECT 1x\r\n"), "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(ask(client, "SELECT 2147483648\r\n"),
            "-ERR value is out of range, value must between -2147483648 and 2147483647\r\n");
  EXPECT_EQ(ask(client, "SELECT 9223372036854775808\r\n"),
            "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(session_of(client)->caller().db, 15);
}

TEST_F(ConnectionTest, HelloTellsWhoWeAre) {
  auto client = connect();
  EXPECT_EQ(ask(client, "HELLO\r\n"),
            "*14\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.2.4\r\n$5\r\nproto\r\n"
            ":2\r\n$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster"
            "\r\n$7\r\nmodules\r\n*0\r\n");
  EXPECT_TRUE(ask(client, "HELLO 3\r\n").starts_with("%7\r\n$6\r\nserver\r\n"));
  EXPECT_EQ(ask(client, "CLIENT GETNAME\r\n"), "_\r\n");
  // Without a version the protocol stays.
  EXPECT_TRUE(ask(client, "HELLO\r\n").starts_with("%7\r\n"));
}

TEST_F(ConnectionTest, HelloRefusesWhatItDoesNotKnow) {
  auto client = connect();
  EXPECT_EQ(ask(client, "HELLO 4\r\n"), "-NOPROTO unsupported protocol version\r\n");
  EXPECT_EQ(ask(client, "HELLO x\r\n"),
            "-ERR Protocol version is not an integer or out of range\r\n");
  EXPECT_EQ(ask(client, "HELLO 3 AUTH default\r\n"),
            "-ERR Syntax error in HELLO option 'AUTH'\r\n");
  EXPECT_EQ(ask(client, "HELLO 3 SETNAME\r\n"), "-ERR Syntax error in HELLO option 'SETNAME'\r\n");
  EXPECT_EQ(ask(client, "HELLO 3 SETNAME good BAD\r\n"),
            "-ERR Syntax error in HELLO option 'BAD'\r\n");
  EXPECT_EQ(ask(client, "HELLO 3 SETNAME \"a b\"\r\n"),
            "-ERR Client names cannot contain spaces, newlines or special characters.\r\n");
  // A refused one changes nothing.
  EXPECT_EQ(session_of(client)->caller().protocol, 2);
  EXPECT_EQ(session_of(client)->name, "");
}

TEST_F(ConnectionTest, HelloSetsTheName) {
  auto client = connect();
  ask(client, "HELLO 2 SETNAME first SETNAME last\r\n");
  EXPECT_EQ(ask(client, "CLIENT GETNAME\r\n"), "$4\r\nlast\r\n");
}

TEST_F(ConnectionTest, AuthWithoutAPassword) {
  auto client = connect();
  EXPECT_EQ(ask(client, "AUTH x\r\n"),
            "-ERR AUTH <password> called without any password configured for the default user. Are "
            "you sure your configuration is correct?\r\n");
  EXPECT_EQ(ask(client, "AUTH default anything\r\n"), "+OK\r\n");
  EXPECT_EQ(ask(client, "AUTH nobody x\r\n"), kWrongPass);
  EXPECT_EQ(ask(client, "AUTH a b c\r\n"), "-ERR syntax error\r\n");
}

TEST_F(ConnectionTest, AuthWithAPassword) {
  require_password(std::string("abc\0def", 7));
  auto client = connect();
  EXPECT_EQ(ask(client, "CLIENT ID\r\n"), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(ask(client, "NOSUCH\r\n"), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(ask(client, "AUTH abc\r\n"), kWrongPass);
  EXPECT_EQ(ask(client, "AUTH nobody abc\\x00def\r\n"), kWrongPass);
  EXPECT_EQ(ask(client, "PING\r\n"), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(ask(client, "AUTH \"abc\\x00def\"\r\n"), "+OK\r\n");
  EXPECT_EQ(ask(client, "PING\r\n"), "+PONG\r\n");
  // A later failure takes nothing away.
  EXPECT_EQ(ask(client, "AUTH default wrong\r\n"), kWrongPass);
  EXPECT_EQ(ask(client, "PING\r\n"), "+PONG\r\n");
}

TEST_F(ConnectionTest, HelloLogsIn) {
  require_password("secret");
  auto client = connect();
  EXPECT_EQ(ask(client, "HELLO 3\r\n"),
            "-NOAUTH HELLO must be called with the client already authenticated, otherwise the "
            "HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and "
            "select the RESP protocol version at the same time\r\n");
  EXPECT_EQ(ask(client, "HELLO 3 SETNAME n AUTH default wrong\r\n"), kWrongPass);
  EXPECT_EQ(session_of(client)->name, "");
  EXPECT_TRUE(
      ask(client, "HELLO 3 SETNAME n AUTH default secret\r\n").starts_with("%7\r\n$6\r\nserver"));
  EXPECT_EQ(session_of(client)->name, "n");
}

TEST_F(ConnectionTest, QuitIsOpenToAll) {
  require_password("secret");
  auto client = connect();
  EXPECT_EQ(ask(client, "QUIT now\r\n"), "+OK\r\n");
  EXPECT_TRUE(client->closed_by_server());
}

TEST_F(ConnectionTest, ResetMakesANewConnectionOfIt) {
  auto client = connect();
  ask(client,
      "HELLO 3 SETNAME n\r\nSELECT 5\r\nCLIENT NO-TOUCH ON\r\nCLIENT NO-EVICT ON\r\n"
      "CLIENT SETINFO LIB-NAME lib\r\nMONITOR\r\n");
  // It is even answered: replies are on again.
  EXPECT_TRUE(ask(client, "CLIENT REPLY OFF\r\nRESET\r\nCLIENT GETNAME\r\n")
                  .ends_with("\r\n+RESET\r\n$-1\r\n"));
  const Session* session = session_of(client);
  EXPECT_EQ(session->caller().db, 0);
  EXPECT_FALSE(session->caller().no_touch);
  EXPECT_FALSE(session->caller().no_evict);
  EXPECT_FALSE(session->monitoring());
  EXPECT_EQ(session->library_name, "lib");
  EXPECT_EQ(node.reasons, 0u);
  require_password("secret");
  EXPECT_EQ(ask(client, "RESET\r\nPING\r\n"), "+RESET\r\n-NOAUTH Authentication required.\r\n");
}

}  // namespace
}  // namespace sorrel::testing
