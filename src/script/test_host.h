#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "resp/reply_writer.h"
#include "script/interpreter.h"

namespace sorrel::script {

// A ScriptHost for tests: answers commands by a function and records the requests.
class TestHost final : public ScriptHost {
 public:
  std::function<void(std::span<const std::string_view>, resp::ReplySink&)> answer;
  std::vector<std::string> logged;
  unsigned replication = kEverybody;
  int polls = 0;
  int stop_after = 1'000'000;  // polls

  bool run(std::span<const std::string_view> args, resp::ReplySink& reply) override {
    if (answer) {
      answer(args, reply);
      return true;
    }
    reply.array(static_cast<int64_t>(args.size()));
    for (const auto arg : args) reply.bulk(arg);
    return true;
  }
  Permission permission(std::span<const std::string_view> args) override {
    if (args[0] == "nonsense") return Permission::kUnknownCommand;
    return args[0] == "get" ? Permission::kGranted : Permission::kDenied;
  }
  void set_replication(unsigned to) override { replication = to; }
  void log(LogLevel, std::string_view message) override { logged.emplace_back(message); }
  bool interrupted() override { return ++polls >= stop_after; }
};

// Runs a text and returns its reply as RESP.
class TestRun {
 public:
  explicit TestRun(Interpreter& interpreter) : interpreter_(interpreter) {}

  TestHost host;
  int protocol = 2;

  std::string operator()(std::string_view text, std::vector<std::string_view> keys = {},
                         std::vector<std::string_view> args = {}) {
    resp::OutputBuffer out;
    resp::ReplyWriter reply(out, protocol);
    auto function = interpreter_.compile(text, "@user_script");
    if (!function) return "-" + function.error().text;
    interpreter_.call(*function, "NAME", keys, args, host, reply);
    interpreter_.release(*function);
    return std::string(out.view());
  }

 private:
  Interpreter& interpreter_;
};

}  // namespace sorrel::script
