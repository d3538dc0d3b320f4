// The interpreter: conversion of replies, limits, errors and libraries.

#include "script/interpreter.h"

#include <gtest/gtest.h>

#include "script/sha1.h"
#include "script/test_host.h"

namespace sorrel::script {
namespace {

class InterpreterTest : public ::testing::Test {
 protected:
  Interpreter interpreter{Interpreter::Kind::kEval, "7.2.4"};
  TestRun run{interpreter};
};

TEST_F(InterpreterTest, ValuesBecomeReplies) {
  EXPECT_EQ(run("return 3.99"), ":3\r\n");
  EXPECT_EQ(run("return -3.99"), ":-3\r\n");
  EXPECT_EQ(run("return 'a\\0b'"), std::string("$3\r\na\0b\r\n", 9));
  EXPECT_EQ(run("return true"), ":1\r\n");
  EXPECT_EQ(run("return false"), "$-1\r\n");
  EXPECT_EQ(run("return nil"), "$-1\r\n");
  EXPECT_EQ(run("return {1,'x',{2},nil,4}"), "*3\r\n:1\r\n$1\r\nx\r\n*1\r\n:2\r\n");
  EXPECT_EQ(run("return {ok='fine\\r\\nx'}"), "+fine  x\r\n");
  EXPECT_EQ(run("return {err='MY bad\\r\\n-x'}"), "-MY bad  -x\r\n");
  EXPECT_EQ(run("return redis.status_reply('OK')"), "+OK\r\n");
  EXPECT_EQ(run("return redis.error_reply('MY bad')"), "-MY bad\r\n");
  EXPECT_EQ(run("return redis.error_reply('-MY bad')"), "-MY bad\r\n");
  EXPECT_EQ(run("return redis.error_reply('bad')"), "-ERR bad\r\n");
  EXPECT_EQ(run("return {double=3.5}"), "$3\r\n3.5\r\n");
  EXPECT_EQ(run("return {map={a=1}}"), "*2\r\n$1\r\na\r\n:1\r\n");
  EXPECT_EQ(run("return {set={a=true}}"), "*1\r\n$1\r\na\r\n");
  EXPECT_EQ(run("return {big_number='123'}"), "$3\r\n123\r\n");
  EXPECT_EQ(run("return {verbatim_string={format='txt',string='hi'}}"), "$2\r\nhi\r\n");
  EXPECT_EQ(run("return redis.call"), "$-1\r\n");
  EXPECT_EQ(run("return _G"), "*0\r\n");
}

TEST_F(InterpreterTest, ValuesBecomeRepliesOfResp3) {
  run.protocol = 3;
  EXPECT_EQ(run("return true"), ":1\r\n");
  EXPECT_EQ(run("return false"), "_\r\n");
  EXPECT_EQ(run("redis.setresp(3); return true"), "#t\r\n");
  EXPECT_EQ(run("redis.setresp(3); return false"), "#f\r\n");
  EXPECT_EQ(run("return true"), ":1\r\n") << "the next script begins anew";
  EXPECT_EQ(run("return {double=3.5}"), ",3.5\r\n");
  EXPECT_EQ(run("return {map={a=1}}"), "%1\r\n$1\r\na\r\n:1\r\n");
  EXPECT_EQ(run("return {set={a=true}}"), "~1\r\n$1\r\na\r\n");
  EXPECT_EQ(run("return {big_number='1\\r\\n3'}"), "(1  3\r\n");
  EXPECT_EQ(run("return {verbatim_string={format='markdown',string='hi'}}"), "=6\r\nmar:hi\r\n");
}

TEST_F(InterpreterTest, RepliesBecomeValues) {
  const auto reply = [&](auto answer) {
    run.host.answer = [answer](auto, resp::ReplySink& sink) { answer(sink); };
  };
  const std::string type = "local r = redis.pcall('x'); return ";
  reply([](resp::ReplySink& sink) { sink.integer(42); });
  EXPECT_EQ(run(type + "type(r) .. r"), "$8\r\nnumber42\r\n");
  reply([](resp::ReplySink& sink) { sink.bulk("text"); });
  EXPECT_EQ(run(type + "type(r) .. r"), "$10\r\nstringtext\r\n");
  reply([](resp::ReplySink& sink) { sink.bulk_integer(-7); });
  EXPECT_EQ(run(type + "type(r) .. r"), "$8\r\nstring-7\r\n");
  reply([](resp::ReplySink& sink) { sink.null(); });
  EXPECT_EQ(run(type + "type(r)"), "$7\r\nboolean\r\n");
  EXPECT_EQ(run("redis.setresp(3) " + type + "type(r)"), "$3\r\nnil\r\n");
  reply([](resp::ReplySink& sink) { sink.simple("OK"); });
  EXPECT_EQ(run(type + "r.ok"), "$2\r\nOK\r\n");
  reply([](resp::ReplySink& sink) { sink.error("ERR no"); });
  EXPECT_EQ(run(type + "r.err"), "$6\r\nERR no\r\n");
  EXPECT_EQ(run("redis.call('x')"), "-ERR no script: NAME, on @user_script:1.\r\n");
  EXPECT_EQ(run("local ok, e = pcall(redis.call, 'x'); return e"), "$6\r\nERR no\r\n");
  reply([](resp::ReplySink& sink) { sink.real(1.5); });
  EXPECT_EQ(run(type + "r"), "$3\r\n1.5\r\n");
  EXPECT_EQ(run("redis.setresp(3) " + type + "type(r.double)"), "$6\r\nnumber\r\n");
  reply([](resp::ReplySink& sink) { sink.boolean(true); });
  EXPECT_EQ(run(type + "r"), ":1\r\n");
  EXPECT_EQ(run("redis.setresp(3) " + type + "type(r)"), "$7\r\nboolean\r\n");
  reply([](resp::ReplySink& sink) { sink.verbatim("txt", "hi"); });
  EXPECT_EQ(
      run("redis.setresp(3) " + type + "r.verbatim_string.format .. r.verbatim_string.string"),
      "$5\r\ntxthi\r\n");
  reply([](resp::ReplySink& sink) { sink.big_number("99"); });
  EXPECT_EQ(run("redis.setresp(3) " + type + "r.big_number"), "$2\r\n99\r\n");
}

TEST_F(InterpreterTest, AggregatesBecomeTables) {
  run.host.answer = [](auto, resp::ReplySink& sink) {
    sink.array(3);
    sink.map(2);
    sink.bulk("a");
    sink.set(2);
    sink.integer(1);
    sink.integer(2);
    sink.bulk("b");
    sink.array(0);
    sink.map(0);
    sink.error("ERR inner");
  };
  EXPECT_EQ(run("local r = redis.call('x'); return {#r, #r[1], r[1][2][2], #r[1][4], r[3].err}"),
            "*5\r\n:3\r\n:4\r\n:2\r\n:0\r\n$9\r\nERR inner\r\n");
  EXPECT_EQ(run("redis.setresp(3); local r = redis.call('x'); "
                "return {#r, r[1].map.a.set[1], #r[1].map.b, type(r[2].map)}"),
            "*4\r\n:3\r\n:1\r\n:0\r\n$5\r\ntable\r\n");
}

TEST_F(InterpreterTest, ArgumentsOfCommands) {
  EXPECT_EQ(run("return redis.call('x', 1, 1.5, -0.25, 1e15, 2^53, 1e100)"),
            "*7\r\n$1\r\nx\r\n$1\r\n1\r\n$3\r\n1.5\r\n$5\r\n-0.25\r\n$16\r\n1000000000000000\r\n"
            "$16\r\n9007199254740992\r\n$6\r\n1e+100\r\n");
  EXPECT_EQ(run("return redis.pcall()"),
            "-ERR Please specify at least one argument for this redis lib call\r\n");
  EXPECT_EQ(run("return redis.call('x', {})"),
            "-ERR Lua redis lib command arguments must be strings or integers script: NAME, on "
            "@user_script:1.\r\n");
  EXPECT_EQ(run("local t = {} for i = 1, 7999 do t[i] = i end return #redis.call(unpack(t))"),
            ":7999\r\n");
}

TEST_F(InterpreterTest, ErrorsNameTheirSourceAndLine) {
  EXPECT_EQ(run("\n\nreturn x"),
            "-ERR user_script:3: Script attempted to access nonexistent global variable 'x' "
            "script: NAME, on @user_script:3.\r\n");
  EXPECT_EQ(run("error('boom')"), "-ERR user_script:1: boom script: NAME, on @user_script:1.\r\n");
  EXPECT_EQ(run("error({err='MY boom'})"), "-MY boom script: NAME, on @user_script:1.\r\n");
  EXPECT_EQ(run("error(nil)"), "-ERR nil script: NAME, on @user_script:1.\r\n");
  EXPECT_EQ(run("return ("), "-user_script:1: unexpected symbol near '<eof>'");
}

TEST_F(InterpreterTest, KeysAndArguments) {
  EXPECT_EQ(run("return {KEYS[1], ARGV[1], #KEYS, #ARGV}", {"k"}, {"a", "b"}),
            "*4\r\n$1\r\nk\r\n$1\r\na\r\n:1\r\n:2\r\n");
  EXPECT_EQ(run("return #KEYS"), ":0\r\n");
}

TEST_F(InterpreterTest, TheRedisTable) {
  EXPECT_EQ(run("return redis.sha1hex('')"), "$40\r\nda39a3ee5e6b4b0d3255bfef95601890afd80709\r\n");
  EXPECT_EQ(run("return {redis.REDIS_VERSION, redis.REDIS_VERSION_NUM}"),
            "*2\r\n$5\r\n7.2.4\r\n:459268\r\n");
  EXPECT_EQ(run("redis.log(redis.LOG_WARNING, 'a', 'b', 3)"), "$-1\r\n");
  ASSERT_EQ(run.host.logged.size(), 1u);
  EXPECT_EQ(run.host.logged[0], "a b 3");
  EXPECT_EQ(run("redis.log(7, 'a')"),
            "-ERR Invalid debug level. script: NAME, on @user_script:1.\r\n");
  run("redis.set_repl(redis.REPL_NONE)");
  EXPECT_EQ(run.host.replication, 0u);
  EXPECT_EQ(run("return redis.acl_check_cmd('get', 'k')"), ":1\r\n");
  EXPECT_EQ(run("return redis.acl_check_cmd('set', 'k')"), "$-1\r\n");
  EXPECT_EQ(run("return redis.acl_check_cmd('nonsense')"),
            "-ERR Invalid command passed to redis.acl_check_cmd() script: NAME, on "
            "@user_script:1.\r\n");
  EXPECT_EQ(run("return {redis.breakpoint(), redis.replicate_commands()}"), "*2\r\n$-1\r\n:1\r\n");
}

TEST_F(InterpreterTest, RandomNumbersRepeat) {
  const std::string text =
      "math.randomseed(ARGV[1]); return {math.random(1000000), math.random(1000000)}";
  const std::string first = run(text, {}, {"1234"});
  EXPECT_EQ(run(text, {}, {"1234"}), first);
  EXPECT_NE(run(text, {}, {"1235"}), first);
}

TEST_F(InterpreterTest, AScriptCanBeStopped) {
  run.host.stop_after = 5;
  EXPECT_EQ(run("while true do end"),
            "-ERR Script killed by user with SCRIPT KILL... script: NAME, on @user_script:1.\r\n");
  run.host.polls = 0;
  EXPECT_EQ(run("while true do pcall(function() while true do end end) end"),
            "-ERR Script killed by user with SCRIPT KILL... script: NAME, on @user_script:1.\r\n");
  run.host.polls = 0;
  run.host.stop_after = 50;
  EXPECT_EQ(run("local c = coroutine.wrap(function() while true do end end) "
                "while true do pcall(c) end"),
            "-ERR Script killed by user with SCRIPT KILL... script: NAME, on @user_script:1.\r\n");
  run.host.stop_after = 1'000'000;
  EXPECT_EQ(run("return 1"), ":1\r\n");
}

TEST(Sha1, KnownTexts) {
  EXPECT_EQ(text_of(sha1_hex("Pizza & Mandolino")), "74822d82031af7493c20eefa13bd07ec4fada82f");
  EXPECT_EQ(text_of(sha1_hex("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(text_of(sha1_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(text_of(sha1_hex(std::string(1'000'000, 'a'))),
            "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

}  // namespace
}  // namespace sorrel::script
