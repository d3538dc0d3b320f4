#include "session/client_list.h"

#include <fmt/format.h>

#include "session/session_fixture.h"

namespace sorrel::testing {
namespace {

class ClientListTest : public SessionTest {
 protected:
  // The text of a bulk reply.
  static std::string text(const std::string& reply) {
    const size_t begin = reply.find("\r\n") + 2;
    return reply.substr(begin, reply.size() - begin - 2);
  }
  std::string line_of(const Client& client) {
    return client_line(*session_of(client), worker().loop.clock().wall_ms());
  }
  bool shows(const Client& client, std::string_view field) {
    return (" " + line_of(client) + " ").find(fmt::format(" {} ", field)) != std::string::npos;
  }
};

TEST_F(ClientListTest, DescribesTheCallerInRedissForm) {
  auto client = connect(0, "127.0.0.1:50002");
  const std::string expected = fmt::format(
      "id=1 addr=127.0.0.1:50002 laddr=127.0.0.1:6379 fd=-1 name= age=0 idle=0 flags=N db=0 sub=0 "
      "psub=0 ssub=0 multi=-1 qbuf=26 qbuf-free=0 argv-mem=10 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 "
      "omem=0 tot-mem={} events=r cmd=client|list user=default redir=-1 resp=2 lib-name= "
      "lib-ver=\n",
      session_of(client)->memory_bytes());
  EXPECT_EQ(text(ask(client, "*2\r\n$6\r\nCLIENT\r\n$4\r\nlist\r\n")), expected);
  const std::string info = ask(client, "*2\r\n$6\r\nCLIENT\r\n$4\r\ninfo\r\n");
  EXPECT_NE(info.find(" cmd=client|info "), std::string::npos);
}

TEST_F(ClientListTest, IsVerbatimTextInResp3) {
  auto client = connect();
  ask(client, "HELLO 3\r\n");
  EXPECT_NE(ask(client, "CLIENT INFO\r\n").find("\r\ntxt:id=1 "), std::string::npos);
}

TEST_F(ClientListTest, ShowsTheTruth) {
  auto client = connect();
  EXPECT_TRUE(shows(client, "cmd=NULL"));
  ask(client,
      "SELECT 3\r\nCLIENT SETNAME bob\r\nCLIENT SETINFO LIB-NAME l\r\nCLIENT SETINFO LIB-VER v\r\n"
      "CLIENT NO-EVICT ON\r\nCLIENT NO-TOUCH ON\r\nHELLO 3\r\nPING\r\n");
  for (const char* field : {"db=3", "name=bob", "lib-name=l", "lib-ver=v", "flags=eT", "resp=3",
                            "cmd=ping", "user=default", "qbuf=0", "argv-mem=0"}) {
    EXPECT_TRUE(shows(client, field)) << field << " in " << line_of(client);
  }
  ask(client, "NOSUCHCOMMAND\r\n");
  EXPECT_TRUE(shows(client, "cmd=NULL"));
  ask(client, "CLIENT NOSUCHWORD\r\n");
  EXPECT_TRUE(shows(client, "cmd=NULL"));
  advance(5000);
  EXPECT_TRUE(shows(client, "age=5"));
  EXPECT_TRUE(shows(client, "idle=5"));
  ask(client, "PING\r\n");
  EXPECT_TRUE(shows(client, "age=5"));
  EXPECT_TRUE(shows(client, "idle=0"));
}

TEST_F(ClientListTest, ShowsWhatIsHeld) {
  auto client = connect();
  ask(client, "*2\r\n$4\r\nECHO\r\n$1000\r\nabc");
  EXPECT_TRUE(shows(client, "qbuf=3"));
  auto slow = connect();
  slow->set_window(10);
  ask(slow, "GET 100000\r\n");
  EXPECT_TRUE(shows(slow, "events=rw"));
  EXPECT_FALSE(shows(slow, "omem=0"));
  EXPECT_FALSE(shows(slow, "oll=0"));
  ask(slow, "QUIT\r\n");
  EXPECT_TRUE(shows(slow, "flags=c"));
  EXPECT_TRUE(shows(slow, "events=w"));
  auto watcher = connect();
  ask(watcher, "MONITOR\r\n");
  EXPECT_TRUE(shows(watcher, "flags=O"));
}

TEST_F(ClientListTest, ShowsUnixSocketsByTheirPath) {
  TestWorker& one = worker();
  auto listener = one.loop.listen({.kind = io::Endpoint::Kind::kUnix, .host = "/tmp/s"}, one);
  auto client = one.loop.connect_unix("/tmp/s");
  run();
  const std::string line = text(ask(client, "CLIENT INFO\r\n"));
  EXPECT_TRUE(line.starts_with("id=1 addr=/tmp/s:0 laddr=/tmp/s:0 ")) << line;
  EXPECT_NE(line.find(" flags=U "), std::string::npos);
}

TEST_F(ClientListTest, ListsEveryWorkersSessionsOldestFirst) {
  start(3);
  std::vector<Client> clients;
  for (size_t i = 0; i < 30; i++) clients.push_back(connect(i % 3));
  const std::string list = text(ask(clients[7], "CLIENT LIST\r\n"));
  size_t at = 0;
  for (size_t i = 1; i <= 30; i++) {
    ASSERT_TRUE(list.substr(at).starts_with(fmt::format("id={} ", i)));
    at = list.find('\n', at) + 1;
  }
  EXPECT_EQ(at, list.size());
}

TEST_F(ClientListTest, ListsByTypeAndNumber) {
  auto one = connect();
  auto two = connect();
  const std::string list = text(ask(one, "CLIENT LIST ID 2 77 1 2\r\n"));
  const size_t second = list.find('\n') + 1;
  const size_t third = list.find('\n', second) + 1;
  EXPECT_TRUE(list.starts_with("id=2 "));
  EXPECT_TRUE(list.substr(second).starts_with("id=1 "));
  EXPECT_TRUE(list.substr(third).starts_with("id=2 "));
  EXPECT_EQ(text(ask(one, "CLIENT LIST ID 77\r\n")), "");
  EXPECT_EQ(text(ask(one, "CLIENT LIST ID -1\r\n")), "");
  EXPECT_EQ(text(ask(one, "CLIENT LIST TYPE pubsub\r\n")), "");
  EXPECT_EQ(text(ask(one, "CLIENT LIST TYPE slave\r\n")), "");
  EXPECT_NE(text(ask(one, "CLIENT LIST TYPE Normal\r\n")), "");
}

TEST_F(ClientListTest, AnswersMistakes) {
  auto client = connect();
  EXPECT_EQ(ask(client, "CLIENT LIST ID\r\n"), "-ERR syntax error\r\n");
  EXPECT_EQ(ask(client, "CLIENT LIST ID 1 x\r\n"), "-ERR Invalid client ID\r\n");
  EXPECT_EQ(ask(client, "CLIENT LIST TYPE\r\n"), "-ERR syntax error\r\n");
  EXPECT_EQ(ask(client, "CLIENT LIST TYPE normal more\r\n"), "-ERR syntax error\r\n");
  EXPECT_EQ(ask(client, "CLIENT LIST TYPE x\r\n"), "-ERR Unknown client type 'x'\r\n");
  EXPECT_EQ(ask(client, "CLIENT LIST x\r\n"), "-ERR syntax error\r\n");
}

TEST_F(ClientListTest, NamesCannotForgeALine) {
  auto client = connect();
  ask(client, "CLIENT SETNAME \"x flags=N\"\r\nCLIENT SETINFO LIB-NAME \"a\\nid=99\"\r\n");
  EXPECT_TRUE(shows(client, "name="));
  EXPECT_TRUE(shows(client, "lib-name="));
}

}  // namespace
}  // namespace sorrel::testing
