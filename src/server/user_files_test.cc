#include "server/user_files.h"

#include <gtest/gtest.h>

#include <map>

namespace sorrel::server {
namespace {

class TextLog final : public Logger {
 public:
  void write(LogLevel, std::string_view message) override { text += std::string(message) + '\n'; }
  void write_raw(std::string_view message) override { text += message; }
  std::string text;
};

class UserFiles : public ::testing::Test {
 protected:
  config::FileAccess files() {
    config::FileAccess access;
    access.read = [this](const std::string& path) -> Result<std::string> {
      const auto found = on_disk.find(path);
      if (found == on_disk.end()) return Error{"No such file or directory"};
      return found->second;
    };
    return access;
  }
  bool load() { return load_users(options, files(), log, users).ok(); }
  std::string rules_of(std::string_view name) {
    const acl::AccountHandle account = users.find(name);
    return account == nullptr ? "" : account->user().describe();
  }

  Options options;
  std::map<std::string, std::string> on_disk;
  TextLog log;
  acl::Users users;
};

TEST_F(UserFiles, RequirePassIsTheDefaultUsers) {
  options.security.requirepass = "secret";
  ASSERT_TRUE(load());
  EXPECT_TRUE(users.default_user().accepts("secret"));
  EXPECT_FALSE(users.default_user().accepts("other"));
}

TEST_F(UserFiles, LinesOfTheConfiguration) {
  options.security.users = {{"bob", "on", "nopass", "(~a", "+get)"}, {"default", "on", "+ping"}};
  ASSERT_TRUE(load());
  EXPECT_EQ(rules_of("bob"),
            "on nopass sanitize-payload resetchannels -@all (~a resetchannels -@all +get)");
  // What the line does not say the default user does not keep.
  EXPECT_EQ(rules_of("default"), "on sanitize-payload resetchannels -@all +ping");
  EXPECT_EQ(user_lines(options, users),
            (std::vector<std::string>{"bob " + rules_of("bob"), "default " + rules_of("default")}));
}

TEST_F(UserFiles, NewUsersStartWithTheChannelsOfTheConfiguration) {
  options.security.pubsub_default = ChannelDefault::kAllChannels;
  options.security.users = {{"bob"}};
  ASSERT_TRUE(load());
  EXPECT_EQ(rules_of("bob"), "off sanitize-payload &* -@all");
  EXPECT_NE(log.text.find("'bob' is disabled"), std::string::npos);
}

TEST_F(UserFiles, ACommandThatDoesNotExistStopsTheStart) {
  options.security.users = {{"bob", "+nope"}};
  EXPECT_FALSE(load());
  EXPECT_NE(
      log.text.find("Error loading ACL rule '+nope' for the user named 'bob': Unknown command "
                    "or category name in ACL"),
      std::string::npos);
  EXPECT_EQ(users.find("bob"), nullptr);
}

TEST_F(UserFiles, TheAclFile) {
  options.security.acl_file = "users.acl";
  options.security.requirepass = "not asked for";
  on_disk["users.acl"] = "user bob on nopass\n";
  ASSERT_TRUE(load());
  EXPECT_EQ(rules_of("bob"), "on nopass sanitize-payload resetchannels -@all");
  EXPECT_EQ(rules_of("default"), "on nopass sanitize-payload ~* &* +@all");
  EXPECT_TRUE(user_lines(options, users).empty());
}

TEST_F(UserFiles, AnAclFileThatCannotBeReadStopsTheStart) {
  options.security.acl_file = "users.acl";
  EXPECT_FALSE(load());
  EXPECT_NE(log.text.find("opening file 'users.acl': No such file or directory"),
            std::string::npos);
  on_disk["users.acl"] = "user bob on\nuser bob off\n";
  EXPECT_FALSE(load());
  EXPECT_NE(log.text.find("WARNING: Duplicate user 'bob' found on line 2. WARNING: ACL errors "
                          "detected, no change to the previously active ACL rules was performed"),
            std::string::npos);
}

TEST_F(UserFiles, UsersInTwoPlacesStopTheStart) {
  options.security.acl_file = "users.acl";
  options.security.users = {{"bob"}};
  on_disk["users.acl"] = "";
  EXPECT_FALSE(load());
}

TEST(UserLine, IsCheckedWhenTheConfigurationIsRead) {
  const auto error = [](const std::vector<std::string>& words) {
    const Status checked = check_user_line(words);
    return checked ? "" : checked.error().text;
  };
  EXPECT_EQ(error({"bob", "on", "+nope"}), "");  // found later
  EXPECT_EQ(error({"bob", "wrong"}), "Error in user declaration 'wrong': Syntax error");
  EXPECT_EQ(error({"bob", "(+get"}), "Unmatched parenthesis in acl selector starting at '(+get'.");
}

}  // namespace
}  // namespace sorrel::server
