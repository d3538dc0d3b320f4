#include "session/notifications.h"

#include "session/session_fixture.h"

namespace sorrel::testing {
namespace {

class NotificationsTest : public SessionTest {
 protected:
  void want(bool by_key, bool by_event, EventClass kind) {
    sessions.notifications.set_wanted({by_key, by_event, static_cast<uint32_t>(kind)});
    hub.interest().add(ChangeInterest::kNotifications);
  }
  Client listener(size_t worker = 0) {
    Client client = connect(worker);
    ask(client, "PSUBSCRIBE __key*\r\n");
    return client;
  }
  static std::string message(std::string_view channel, std::string_view text) {
    return "*4\r\n" + bulk("pmessage") + bulk("__key*") + bulk(channel) + bulk(text);
  }
};

TEST_F(NotificationsTest, ByKeyThenByEvent) {
  auto ear = listener();
  auto client = connect();
  want(true, true, EventClass::kString);
  ask(client, "SELECT 3\r\nSET k x\r\n");
  EXPECT_EQ(ear->take(), message("__keyspace@3__:k", "set") + message("__keyevent@3__:set", "k"));
  want(true, false, EventClass::kString);
  ask(client, "SET k x\r\n");
  EXPECT_EQ(ear->take(), message("__keyspace@3__:k", "set"));
  want(false, true, EventClass::kString);
  ask(client, "SET k x\r\n");
  EXPECT_EQ(ear->take(), message("__keyevent@3__:set", "k"));
}

TEST_F(NotificationsTest, OnlyWantedClasses) {
  auto ear = listener();
  auto client = connect();
  want(false, true, EventClass::kExpired);
  ask(client, "SET k x 100\r\n");
  EXPECT_EQ(ear->take(), "");
  advance(200);
  ask(client, "EXISTS k\r\n");
  EXPECT_EQ(ear->take(), message("__keyevent@0__:expired", "k"));
}

TEST_F(NotificationsTest, ListenersOfOtherWorkersHearThem) {
  start(2);
  auto ear = listener(1);
  auto client = connect(0);
  want(false, true, EventClass::kString);
  ask(client, "SET a x\r\nSET b x\r\n");
  EXPECT_EQ(ear->take(), message("__keyevent@0__:set", "a") + message("__keyevent@0__:set", "b"));
}

}  // namespace
}  // namespace sorrel::testing
