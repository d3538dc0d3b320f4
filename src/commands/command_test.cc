#include "commands/command.h"

#include <gtest/gtest.h>

#include "commands/test_harness.h"

namespace sorrel::commands {
namespace {

class CommandCommand : public ::testing::Test {
 protected:
  CommandCommand() { context_.table = &server_.table(); }

  CommandContext context_;
  std::vector<Binding> bindings_ = command_bindings(context_);
  TestServer server_{{string_bindings(), string_set_bindings(), string_many_bindings(),
                      keys_bindings(), std::span<const Binding>(bindings_)}};
};

TEST_F(CommandCommand, ListsOnlyWhatCanBeCalled) {
  EXPECT_EQ(server_("COMMAND LIST FILTERBY PATTERN get"), R"(["get"])");
  // In the catalog, but not bound here.
  EXPECT_EQ(server_("COMMAND LIST FILTERBY PATTERN info"), "[]");
  EXPECT_EQ(server_("COMMAND LIST FILTERBY PATTERN config*"), "[]");
  EXPECT_EQ(server_("COMMAND INFO info get|key command|count|x"), "[(nil), (nil), (nil)]");
}

TEST_F(CommandCommand, CountsContainersOnceAndListsTheirParts) {
  const size_t count = server_.table().listed().size();
  EXPECT_EQ(server_("COMMAND COUNT"), "(integer) " + std::to_string(count));
  EXPECT_EQ(server_("COMMAND LIST FILTERBY PATTERN command*t"),
            R"(["command|count", "command|list"])");
}

TEST_F(CommandCommand, FiltersByCategoryAndModule) {
  EXPECT_EQ(server_("COMMAND LIST FILTERBY ACLCAT nothing"), "[]");
  EXPECT_EQ(server_("COMMAND LIST FILTERBY MODULE nothing"), "[]");
  EXPECT_EQ(server_("COMMAND LIST FILTERBY MODULE \"\""), "[]");
  EXPECT_NE(server_("COMMAND LIST FILTERBY ACLCAT STRING").find("\"getrange\""), std::string::npos);
  EXPECT_EQ(server_("COMMAND LIST FILTERBY ACLCAT string").find("\"del\""), std::string::npos);
}

TEST_F(CommandCommand, RejectsOtherFilters) {
  for (const char* line : {"COMMAND LIST x", "COMMAND LIST FILTERBY x", "COMMAND LIST FILTERBY x y",
                           "COMMAND LIST FILTERBY PATTERN a b"}) {
    EXPECT_EQ(server_(line), "(error) ERR syntax error") << line;
  }
}

TEST_F(CommandCommand, DescribesACommand) {
  EXPECT_EQ(server_("COMMAND INFO GET"),
            R"([["get", (integer) 2, ~[readonly, fast], (integer) 1, (integer) 1, (integer) 1, )"
            R"(~[@read, @string, @fast], ~[], ~[{"flags" => ~[RO, access], )"
            R"("begin_search" => {"type" => "index", "spec" => {"index" => (integer) 1}}, )"
            R"("find_keys" => {"type" => "range", "spec" => {"lastkey" => (integer) 0, )"
            R"("keystep" => (integer) 1, "limit" => (integer) 0}}}], ~[]]])");
}

TEST_F(CommandCommand, DescribesEveryCommandCompletely) {
  // The sink of these tests reports aggregates that are not filled exactly.
  for (const char* line : {"COMMAND", "COMMAND INFO", "COMMAND DOCS"}) {
    EXPECT_EQ(server_(line).find("(incomplete)"), std::string::npos) << line;
    server_.caller.protocol = 3;
    EXPECT_EQ(server_.resp(line).find("-ERR"), std::string::npos) << line;
    server_.caller.protocol = 2;
  }
}

TEST_F(CommandCommand, DocumentsKnownCommandsAndSkipsOthers) {
  EXPECT_EQ(server_("COMMAND DOCS nothing"), "{}");
  const std::string docs = server_("COMMAND DOCS nothing get");
  EXPECT_TRUE(docs.starts_with(R"({"get" => {"summary" => ")")) << docs;
  EXPECT_NE(
      docs.find(R"("arguments" => [{"name" => "key", "type" => "key", "display_text" => "key")"
                R"(, "key_spec_index" => (integer) 0}])"),
      std::string::npos)
      << docs;
}

TEST_F(CommandCommand, FindsKeys) {
  EXPECT_EQ(server_("COMMAND GETKEYS MSET a 1 b 2"), R"(["a", "b"])");
  EXPECT_EQ(server_("COMMAND GETKEYSANDFLAGS SET k v"), R"([["k", ~[OW, update]]])");
  EXPECT_EQ(server_("COMMAND GETKEYSANDFLAGS SET k v GET"), R"([["k", ~[RW, access, update]]])");
  EXPECT_EQ(server_("COMMAND GETKEYS nothing a"), "(error) ERR Invalid command specified");
  EXPECT_EQ(server_("COMMAND GETKEYS COMMAND COUNT"),
            "(error) ERR The command has no key arguments");
  EXPECT_EQ(server_("COMMAND GETKEYS GET"),
            "(error) ERR Invalid number of arguments specified for command");
  EXPECT_EQ(server_("COMMAND GETKEYS"),
            "(error) ERR wrong number of arguments for 'command|getkeys' command");
}

}  // namespace
}  // namespace sorrel::commands
