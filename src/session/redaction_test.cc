#include "session/redaction.h"

#include <gtest/gtest.h>

namespace sorrel {
namespace {

// The request as it would be shown.
std::string shown(std::string_view name, std::vector<std::string_view> args) {
  Command command;
  command.spec = catalog::find_full(name);
  command.name = name;
  command.flags = command.spec->flags;
  Command parent;
  if (!command.spec->parent.empty()) command.parent = &parent;
  const std::vector<bool> secret = secret_arguments(command, args);
  std::string text;
  for (size_t i = 0; i < args.size(); i++) {
    text += !secret.empty() && secret[i] ? "?" : args[i];
    text += ' ';
  }
  return text;
}

TEST(Redaction, LeavesOrdinaryCommandsAlone) {
  EXPECT_EQ(shown("set", {"set", "auth", "secret"}), "set auth secret ");
  EXPECT_EQ(shown("config|get", {"config", "get", "requirepass"}), "config get requirepass ");
}

TEST(Redaction, HidesEveryArgumentOfAuth) {
  EXPECT_EQ(shown("auth", {"auth", "a"}), "auth ? ");
  EXPECT_EQ(shown("auth", {"auth", "a", "b", "c"}), "auth ? ? ? ");
}

TEST(Redaction, HidesWhatFollowsAWord) {
  EXPECT_EQ(shown("hello", {"hello"}), "hello ");
  EXPECT_EQ(shown("hello", {"hello", "3", "AuTh", "a", "b", "setname", "n"}),
            "hello 3 AuTh ? ? setname n ");
  EXPECT_EQ(shown("hello", {"hello", "3", "auth", "auth", "b", "auth", "c"}),
            "hello 3 auth ? ? auth ? ");
  EXPECT_EQ(shown("hello", {"hello", "3", "auth"}), "hello 3 auth ");
  EXPECT_EQ(shown("config|set", {"config", "set", "port", "1", "RequirePass", "x", "port", "2"}),
            "config set port 1 RequirePass ? port 2 ");
}

}  // namespace
}  // namespace sorrel
