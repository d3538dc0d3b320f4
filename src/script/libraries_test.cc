#include <gtest/gtest.h>

#include "script/interpreter.h"
#include "script/test_host.h"

// Results of the libraries, case by case. Hostile use is in sandbox_test.cc.

namespace sorrel::script {
namespace {

class LibrariesTest : public ::testing::Test {
 protected:
  Interpreter interpreter{Interpreter::Kind::kEval, "7.2.4"};
  TestRun run{interpreter};

  // The value of an expression, as tostring() shows it.
  std::string value(std::string_view expression) {
    const std::string answer = run("return tostring(" + std::string(expression) + ")");
    if (!answer.starts_with('$')) return answer;
    const size_t begin = answer.find('\n') + 1;
    return answer.substr(begin, answer.size() - begin - 2);
  }
  std::string error(std::string_view expression) {
    const std::string answer = run("return " + std::string(expression));
    return answer.starts_with('-') ? answer : "no error: " + answer;
  }
  bool fails(std::string_view expression, std::string_view part) {
    return error(expression).find(part) != std::string::npos;
  }
};

TEST_F(LibrariesTest, JsonEncodes) {
  EXPECT_EQ(value("cjson.encode({})"), "{}");
  EXPECT_EQ(value("cjson.encode({1,2,'x'})"), "[1,2,\"x\"]");
  EXPECT_EQ(value("cjson.encode({a={b=true}})"), "{\"a\":{\"b\":true}}");
  EXPECT_EQ(value("cjson.encode({1,nil,3})"), "[1,null,3]");
  EXPECT_EQ(value("cjson.encode(cjson.null)"), "null");
  EXPECT_EQ(value("cjson.encode('a/b\"\\\\\\n\\1\\127')"), "\"a\\/b\\\"\\\\\\n\\u0001\\u007f\"");
  EXPECT_EQ(value("cjson.encode(1e20)"), "1e+20");
  EXPECT_EQ(value("cjson.encode(0.1)"), "0.1");
  EXPECT_EQ(value("cjson.encode({[10]=1})"), "[null,null,null,null,null,null,null,null,null,1]");
  EXPECT_TRUE(fails("cjson.encode({[11]=1})", "excessively sparse array"));
  EXPECT_TRUE(fails("cjson.encode(redis.call)", "type not supported"));
  EXPECT_TRUE(fails("cjson.encode({[true]=1})", "table key must be a number or string"));
  EXPECT_TRUE(fails("cjson.encode(1/0)", "must not be NaN or Inf"));
  EXPECT_TRUE(fails("cjson.encode()", "expected 1 argument"));
  EXPECT_EQ(run("cjson.encode_sparse_array(true) return cjson.encode({[1000]=1})"),
            "$10\r\n{\"1000\":1}\r\n");
  EXPECT_EQ(run("cjson.encode_number_precision(3) return cjson.encode(3.14159)"), "$4\r\n3.14\r\n");
  EXPECT_EQ(run("cjson.encode_invalid_numbers('null') return cjson.encode({0/0})"),
            "$6\r\n[null]\r\n");
}

TEST_F(LibrariesTest, JsonDecodes) {
  EXPECT_EQ(value("cjson.decode('{\"a\":[1,2.5,\"x\"]}').a[2]"), "2.5");
  EXPECT_EQ(value("cjson.decode('[null]')[1] == cjson.null"), "true");
  EXPECT_EQ(value("cjson.decode('\"\\\\u00e9\\\\ud83d\\\\ude00\\\\n\"')"),
            "\xc3\xa9\xf0\x9f\x98\x80\n");
  EXPECT_EQ(value("cjson.decode(' [ ] ')[1]"), "nil");
  EXPECT_EQ(value("cjson.decode('0x10')"), "16");
  EXPECT_TRUE(fails("cjson.decode('[1,]')", "Expected value but found T_ARR_END at character 4"));
  EXPECT_TRUE(fails("cjson.decode('{\"a\" 1}')", "Expected colon but found T_NUMBER"));
  EXPECT_TRUE(fails("cjson.decode('{1:2}')", "Expected object key string but found T_NUMBER"));
  EXPECT_TRUE(fails("cjson.decode('[1 2]')", "Expected comma or array end"));
  EXPECT_TRUE(fails("cjson.decode('\"abc')", "unexpected end of string"));
  EXPECT_TRUE(fails("cjson.decode('\"\\\\q\"')", "invalid escape code"));
  EXPECT_TRUE(fails("cjson.decode('\"\\\\ud83d\"')", "invalid unicode escape code"));
  EXPECT_TRUE(fails("cjson.decode('nul')", "invalid token"));
  EXPECT_TRUE(fails("cjson.decode('1 1')", "Expected the end but found T_NUMBER"));
  EXPECT_TRUE(fails("cjson.decode('')", "Expected value but found T_END"));
  EXPECT_TRUE(fails("cjson.decode('\\0[')", "UTF-16"));
  EXPECT_TRUE(run("cjson.decode_invalid_numbers(false) return cjson.decode('0x10')")
                  .find("invalid number") != std::string::npos);
  EXPECT_EQ(run("cjson.decode_array_with_array_mt(true) return cjson.encode(cjson.decode('[]'))"),
            "$2\r\n[]\r\n");
}

TEST_F(LibrariesTest, JsonInstancesHaveTheirOwnOptions) {
  EXPECT_EQ(run("local own = cjson.new() own.encode_max_depth(1) "
                "return {pcall(own.encode, {{1}}) and 1 or 0, cjson.encode({{1}}), "
                "own.new().encode({{2}}), own.decode('[7]')[1]}"),
            "*4\r\n:0\r\n$5\r\n[[1]]\r\n$5\r\n[[2]]\r\n:7\r\n");
  // Each script gets its own copy, which it may change; the shared table stays read-only.
  EXPECT_EQ(
      run("local own = cjson.new() own.encode = nil return {tostring(own.encode), own._NAME}"),
      "*2\r\n$3\r\nnil\r\n$5\r\ncjson\r\n");
  EXPECT_EQ(run("for i = 1, 1e5 do cjson.new() end return cjson.encode({1})"), "$3\r\n[1]\r\n");
}

TEST_F(LibrariesTest, MessagePack) {
  const auto hex = [&](std::string_view expression) {
    return value("(cmsgpack.pack(" + std::string(expression) +
                 "):gsub('.', function(c) return string.format('%02x', c:byte()) end))");
  };
  EXPECT_EQ(hex("0"), "00");
  EXPECT_EQ(hex("127"), "7f");
  EXPECT_EQ(hex("128"), "cc80");
  EXPECT_EQ(hex("256"), "cd0100");
  EXPECT_EQ(hex("65536"), "ce00010000");
  EXPECT_EQ(hex("2^32"), "cf0000000100000000");
  EXPECT_EQ(hex("-1"), "ff");
  EXPECT_EQ(hex("-33"), "d0df");
  EXPECT_EQ(hex("-129"), "d1ff7f");
  EXPECT_EQ(hex("-1099511627776"), "d3ffffff0000000000");
  EXPECT_EQ(hex("0.5"), "ca3f000000");
  EXPECT_EQ(hex("0.1"), "cb3fb999999999999a");
  EXPECT_EQ(hex("nil, true, false"), "c0c3c2");
  EXPECT_EQ(hex("'abc'"), "a3616263");
  EXPECT_EQ(hex("{1,2}"), "920102");
  EXPECT_EQ(hex("{a=1}"), "81a16101");
  EXPECT_EQ(value("cmsgpack.unpack(cmsgpack.pack({a={1,{b=-5}}})).a[2].b"), "-5");
  EXPECT_EQ(value("#cmsgpack.unpack(cmsgpack.pack(string.rep('x', 70000)))"), "70000");
  EXPECT_EQ(value("select('#', cmsgpack.unpack(cmsgpack.pack(1, 2, 3)))"), "3");
  EXPECT_EQ(run("return {cmsgpack.unpack_limit(cmsgpack.pack(1, 2, 3), 2, 1)}"),
            "*3\r\n:-1\r\n:2\r\n:3\r\n");
  // As Redis reads them: signed.
  EXPECT_EQ(value("cmsgpack.unpack('\\207\\127\\255\\255\\255\\255\\255\\252\\0') == 2^63 - 1024"),
            "true");
  EXPECT_EQ(value("cmsgpack.unpack('\\207\\128\\0\\0\\0\\0\\0\\0\\0') == -2^63"), "true");
  EXPECT_EQ(value("cmsgpack.unpack('\\207' .. string.rep('\\255', 8))"), "-1");
  EXPECT_TRUE(fails("cmsgpack.unpack('\\193')", "Bad data format"));
  EXPECT_TRUE(fails("cmsgpack.unpack('\\196\\1x')", "Bad data format"));
  EXPECT_TRUE(fails("cmsgpack.unpack('\\204')", "Missing bytes"));
  EXPECT_TRUE(fails("cmsgpack.unpack_one('x', 5)", "Start offset 5 greater than input length 1"));
  EXPECT_TRUE(fails("cmsgpack.unpack_one('x', -1)", "Invalid request"));
  EXPECT_TRUE(fails("cmsgpack.pack()", "needs input"));
  EXPECT_TRUE(fails("cmsgpack.unpack('\\129\\192\\1')", "index is nil"));
}

TEST_F(LibrariesTest, Struct) {
  EXPECT_EQ(value("struct.pack('>I4', 0x01020304)"), "\x01\x02\x03\x04");
  EXPECT_EQ(value("struct.pack('<I4', 0x01020304)"), "\x04\x03\x02\x01");
  EXPECT_EQ(value("struct.unpack('b', '\\255')"), "-1");
  EXPECT_EQ(value("struct.unpack('B', '\\255')"), "255");
  EXPECT_EQ(value("struct.unpack('>h', '\\255\\254')"), "-2");
  EXPECT_EQ(value("struct.unpack('<d', struct.pack('<d', 3.25))"), "3.25");
  EXPECT_EQ(value("struct.unpack('>f', struct.pack('>f', -0.5))"), "-0.5");
  EXPECT_EQ(value("struct.unpack('s', 'abc\\0def')"), "abc");
  EXPECT_EQ(value("struct.unpack('c3', 'abcdef')"), "abc");
  EXPECT_EQ(value("struct.unpack('Bc0', struct.pack('Bc0', 3, 'abc'))"), "abc");
  EXPECT_EQ(value("#struct.pack('i32', -1)"), "32");
  EXPECT_EQ(value("struct.unpack('i16', struct.pack('i16', 5))"), "5");
  EXPECT_EQ(value("struct.size('!8 b d')"), "16");
  EXPECT_EQ(value("struct.size('bxc5')"), "7");
  EXPECT_EQ(value("select(2, struct.unpack('i4', 'abcdefgh', 5))"), "9");
  EXPECT_TRUE(fails("struct.pack('q', 1)", "invalid format option 'q'"));
  EXPECT_TRUE(fails("struct.unpack('s', 'abc')", "unfinished string"));
  EXPECT_TRUE(fails("struct.unpack('c0', 'abc')", "needs a previous size"));
  EXPECT_TRUE(fails("struct.size('s')", "no fixed size"));
  EXPECT_TRUE(fails("struct.pack('c9', 'abc')", "string too short"));
}

TEST_F(LibrariesTest, Bits) {
  EXPECT_EQ(value("bit.tobit(0xffffffff)"), "-1");
  EXPECT_EQ(value("bit.tobit(2^40 + 5)"), "5");
  EXPECT_EQ(value("bit.band(0xff, 0x0f, 0x05)"), "5");
  EXPECT_EQ(value("bit.bor(1, 2, 4)"), "7");
  EXPECT_EQ(value("bit.bxor(1, 3)"), "2");
  EXPECT_EQ(value("bit.bnot(0)"), "-1");
  EXPECT_EQ(value("bit.lshift(1, 32)"), "1");
  EXPECT_EQ(value("bit.rshift(-1, 31)"), "1");
  EXPECT_EQ(value("bit.arshift(-16, 2)"), "-4");
  EXPECT_EQ(value("bit.rol(0x12345678, 8)"), "878082066");
  EXPECT_EQ(value("bit.bswap(0x01020304)"), "67305985");
  EXPECT_EQ(value("bit.tohex(-1)"), "ffffffff");
  EXPECT_EQ(value("bit.tohex(65535, -2147483648)"), "0000FFFF");
  EXPECT_TRUE(fails("bit.band()", "number expected"));
}

TEST_F(LibrariesTest, Strings) {
  EXPECT_EQ(value("('a.b.c'):gsub('%.', '-')"), "a-b-c");
  EXPECT_EQ(value("('abc'):gsub('', '-')"), "-a-b-c-");
  EXPECT_EQ(value("('abc'):gsub('%w', '%0%0', 2)"), "aabbc");
  EXPECT_EQ(value("('abc'):gsub('%w', {a='1', b=true and 2})"), "12c");
  EXPECT_EQ(value("('abc'):gsub('(b)', function(x) return x:upper() end)"), "aBc");
  EXPECT_EQ(value("select(2, ('aaa'):gsub('a', 'b'))"), "3");
  EXPECT_EQ(value("('hello'):find('l')"), "3");
  EXPECT_EQ(value("('hello'):find('l', -1)"), "nil");
  EXPECT_EQ(value("('a+b'):find('+', 1, true)"), "2");
  EXPECT_EQ(value("('x'):find('')"), "1");
  EXPECT_EQ(value("('  trim '):match('^%s*(.-)%s*$')"), "trim");
  EXPECT_EQ(value("('key=val'):match('()=()')"), "4");
  EXPECT_TRUE(fails("('x'):gsub('x', function() return {} end)", "invalid replacement value"));
  EXPECT_TRUE(fails("('x'):gsub('(x', '')", "unfinished capture"));
  EXPECT_EQ(value("('ab'):rep(3)"), "ababab");
  EXPECT_EQ(value("('ab'):rep(-1)"), "");
}

}  // namespace
}  // namespace sorrel::script
