#include "session/access.h"

#include "session/session_fixture.h"

namespace sorrel::testing {
namespace {

class AccessTest : public SessionTest {
 protected:
  // As ACL DELUSER does it.
  void delete_user(std::string_view name) {
    const acl::AccountHandle gone[] = {sessions.users.remove(name)};
    end_sessions_of(sessions, gone, nullptr);
    run();
  }
  std::vector<acl::AccessEntry> logged() { return sessions.access_log.newest(100); }
};

constexpr std::string_view kNoGet =
    "-NOPERM User bob has no permissions to run the 'get' command\r\n";
constexpr std::string_view kNoKey = "-NOPERM No permissions to access a key\r\n";

TEST_F(AccessTest, WhoMayDoEverythingIsNotAsked) {
  auto client = connect();
  EXPECT_EQ(session_of(client)->caller().reasons, 0u);
  set_user("bob", {"on", "nopass", "+@all", "~*", "&*"});
  ask(client, "AUTH bob x\r\n");
  EXPECT_EQ(session_of(client)->caller().reasons, 0u);
  set_user("bob", {"-get"});
  EXPECT_EQ(session_of(client)->caller().reasons, uint32_t{Caller::kRestricted});
  set_user("bob", {"+@all"});
  EXPECT_EQ(session_of(client)->caller().reasons, 0u);
}

TEST_F(AccessTest, RestrictedUsersAreRefusedAndLogged) {
  set_user("bob", {"on", ">secret", "+set", "+exists", "~a*"});
  auto client = connect();
  EXPECT_EQ(ask(client, "AUTH bob secret\r\n"), "+OK\r\n");
  EXPECT_EQ(ask(client, "GET 1\r\n"), kNoGet);
  EXPECT_EQ(ask(client, "SET a x\r\nSET b x\r\nEXISTS a\r\n"),
            "+OK\r\n" + std::string(kNoKey) + ":1\r\n");
  EXPECT_EQ(keyspace.key_count(0), 1u);
  const auto entries = logged();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].reason, acl::Reason::kKey);
  EXPECT_EQ(entries[0].object, "b");
  EXPECT_EQ(entries[0].user, "bob");
  EXPECT_NE(entries[0].client.find(" cmd=set user=bob "), std::string::npos);
  EXPECT_EQ(entries[1].object, "get");
}

// What a TLS stream tells of its peer's certificate.
TEST_F(AccessTest, CertificatesLogIn) {
  set_user("bob", {"on", "+@all", "~*", "&*"});
  set_user("eve", {"off", "+@all", "~*"});
  auto client = connect();
  const auto shows = [&](std::vector<std::string> names) {
    session_of(client)->on_peer_named(names);
    return std::string(session_of(client)->caller().user_name());
  };
  using namespace std::string_literals;
  EXPECT_EQ(shows({"eve"}), "default");
  EXPECT_EQ(shows({"bob\0"s}), "default");
  EXPECT_EQ(shows({"Bob", "bo", "bobb"}), "default");
  EXPECT_EQ(shows({}), "default");
  EXPECT_EQ(sessions.access_log.total(acl::Reason::kCertificate), 4u);
  EXPECT_EQ(logged().back().user, "eve");
  EXPECT_EQ(shows({"eve", "bob"}), "bob");
  EXPECT_EQ(sessions.access_log.total(acl::Reason::kCertificate), 4u);
  EXPECT_EQ(ask(client, "SET a 1\r\n"), "+OK\r\n");
}

TEST_F(AccessTest, FailedLoginsAreLogged) {
  auto client = connect();
  ask(client, "AUTH ghost x\r\nHELLO 3 AUTH ghost y\r\n");
  const auto entries = logged();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].object, "HELLO");
  EXPECT_EQ(entries[1].object, "AUTH");
  EXPECT_EQ(entries[1].user, "ghost");
  EXPECT_EQ(sessions.access_log.total(acl::Reason::kAuth), 2u);
}

// Sessions of every worker follow, wherever the change is made.
TEST_F(AccessTest, ChangesReachSessionsOfAllWorkers) {
  start(2);
  set_user("bob", {"on", "nopass", "+get", "~*"});
  auto here = connect(0);
  auto there = connect(1);
  for (const auto& client : {&here, &there}) ask(*client, "AUTH bob x\r\n");
  EXPECT_EQ(ask(there, "GET 0\r\n"), "$0\r\n\r\n");
  set_user("bob", {"-get"});
  EXPECT_EQ(ask(here, "GET 0\r\n"), kNoGet);
  EXPECT_EQ(ask(there, "GET 0\r\n"), kNoGet);
  delete_user("bob");
  EXPECT_TRUE(here->closed_by_server());
  EXPECT_TRUE(there->closed_by_server());
}

TEST_F(AccessTest, DeletingAUserSparesOthers) {
  set_user("bob", {"on", "nopass", "+@all", "~*"});
  auto bob = connect();
  auto other = connect();
  ask(bob, "AUTH bob x\r\n");
  delete_user("bob");
  EXPECT_TRUE(bob->closed_by_server());
  EXPECT_EQ(ask(other, "PING\r\n"), "+PONG\r\n");
  // Somebody of the same name is somebody else.
  set_user("bob", {"on", ">new"});
  EXPECT_EQ(ask(other, "AUTH bob x\r\n"),
            "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
}

TEST_F(AccessTest, ADisabledDefaultUserMakesEverybodyLogIn) {
  auto before = connect();
  set_user("default", {"off"});
  auto after = connect();
  EXPECT_EQ(ask(before, "PING\r\n"), "+PONG\r\n");
  EXPECT_EQ(ask(after, "PING\r\n"), "-NOAUTH Authentication required.\r\n");
  set_user("default", {"on"});
  EXPECT_EQ(ask(after, "PING\r\n"), "+PONG\r\n");
}

// What was gathered by others does not come back with the account.
TEST_F(AccessTest, ResetGoesBackToTheDefaultUser) {
  set_user("bob", {"on", "nopass"});
  auto client = connect();
  EXPECT_EQ(ask(client, "AUTH bob x\r\nPING\r\nRESET\r\nPING\r\n"),
            "+OK\r\n-NOPERM User bob has no permissions to run the 'ping' command\r\n+RESET\r\n"
            "+PONG\r\n");
}

TEST_F(AccessTest, ListenersWhoMayNoLongerListenAreClosed) {
  set_user("bob", {"on", "nopass", "+@all", "~*", "&news*", "&other"});
  auto kept = connect();
  auto closed = connect();
  auto pattern = connect();
  for (const auto& client : {&kept, &closed, &pattern}) ask(*client, "AUTH bob x\r\n");
  ask(kept, "SUBSCRIBE other\r\n");
  ask(closed, "SUBSCRIBE news1\r\n");
  EXPECT_TRUE(ask(pattern, "PSUBSCRIBE news1*\r\n").starts_with("-NOPERM No permissions to acc"));
  ask(pattern, "PSUBSCRIBE news*\r\n");
  const acl::AccountHandle bob = sessions.users.find("bob");
  const auto change = [&](const std::vector<std::string_view>& rules) {
    const auto before = bob->snapshot();
    set_user("bob", rules);
    end_subscribers_of(sessions, bob, *before, nullptr);
    run();
  };
  change({"&third"});
  change({"allchannels"});
  change({"resetchannels", "&other"});
  EXPECT_FALSE(kept->closed_by_server());
  EXPECT_TRUE(closed->closed_by_server());
  EXPECT_TRUE(pattern->closed_by_server());
}

}  // namespace
}  // namespace sorrel::testing
