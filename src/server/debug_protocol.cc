// DEBUG PROTOCOL: one reply of each kind, for tests of clients. The values are those of Redis.

#include "base/bytes.h"
#include "server/debug_command.h"

namespace sorrel::server {
namespace {

using resp::ReplySink;

void three_numbers(ReplySink& reply) {
  for (int64_t i = 0; i < 3; i++) reply.integer(i);
}

void map_of_three(ReplySink& reply) {
  reply.map(3);
  for (int64_t i = 0; i < 3; i++) {
    reply.integer(i);
    reply.boolean(i == 1);
  }
}

// An attribute is no reply: one must follow it. Who speaks RESP2 gets that alone.
void attribute(ReplySink& reply) {
  if (reply.protocol() >= 3) {
    reply.attribute(1);
    reply.bulk("key-popularity");
    reply.array(2);
    reply.bulk("key:123");
    reply.integer(90);
  }
  reply.bulk("Some real reply following the attribute");
}

void push(ReplySink& reply) {
  if (reply.protocol() < 3) return reply.error("ERR RESP2 is not supported by this command");
  reply.push(2);
  reply.bulk("server-cpu-usage");
  reply.integer(42);
  reply.bulk("Some real reply following the push reply");
}

struct Sample {
  std::string_view name;
  void (*write)(ReplySink& reply);
};

constexpr Sample kSamples[] = {
    {"string", [](ReplySink& reply) { reply.bulk("Hello World"); }},
    {"integer", [](ReplySink& reply) { reply.integer(12345); }},
    {"double", [](ReplySink& reply) { reply.real(3.141); }},
    {"bignum", [](ReplySink& reply) { reply.big_number("1234567999999999999999999999999999999"); }},
    {"null", [](ReplySink& reply) { reply.null(); }},
    {"array",
     [](ReplySink& reply) {
       reply.array(3);
       three_numbers(reply);
     }},
    {"set",
     [](ReplySink& reply) {
       reply.set(3);
       three_numbers(reply);
     }},
    {"map", map_of_three},
    {"attrib", attribute},
    {"push", push},
    {"verbatim", [](ReplySink& reply) { reply.verbatim("txt", "This is a verbatim\nstring"); }},
    {"true", [](ReplySink& reply) { reply.boolean(true); }},
    {"false", [](ReplySink& reply) { reply.boolean(false); }},
};

}  // namespace

void debug_protocol(Call& call) {
  for (const Sample& sample : kSamples) {
    if (iequals(sample.name, call.arg(2))) return sample.write(call.reply);
  }
  call.reply.error(
      "ERR Wrong protocol type name. Please use one of the following: "
      "string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false");
}

}  // namespace sorrel::server
