#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "catalog/catalog.h"

namespace sorrel::testing {

// Makes random requests of any command, from the arguments that its documentation names; a third of
// them are damaged afterwards. And random rules for a user that may use some of the keys in them.
class RequestMaker {
 public:
  using Words = std::vector<std::string>;

  static constexpr const char* kPrefixes[] = {"a:", "r:", "w:", "x:"};
  static constexpr const char* kNames[] = {"string", "list", "set",    "zset",   "hash",
                                           "hll",    "geo",  "stream", "nothing"};

  explicit RequestMaker(uint64_t seed) : random_(seed) {}

  Words request(const catalog::CommandSpec& spec) {
    Words words;
    if (!spec.parent.empty()) words.emplace_back(spec.parent);
    words.emplace_back(spec.name);
    // Keys of one command mostly have the type it is about; the others are for WRONGTYPE.
    type_ = type_of(spec.group);
    size_t fixed = words.size();
    append(words, spec.args);
    // To no other host, and to no server that may be there.
    if (spec.name == "migrate") fixed = 3;
    if (one_in(3)) damage(words, fixed);
    return words;
  }

  // For ACL SETUSER.
  Words rules() {
    Words rules = {"reset", "on", "nopass", "&*", any({"+@all", "+@all", "+@read", "+@write"})};
    for (const char* rule : {"~a:*", "%R~r:*", "%W~w:*", "~*:string", "%R~*", "%W~*:list"}) {
      if (one_in(rule[1] == '*' || rule[3] == '*' ? 6 : 2)) rules.emplace_back(rule);
    }
    for (const char* rule : {"(%R~x:* +@read)", "(%W~x:* +@write)", "(~x:list +@all)",
                             "(%R~w:* %W~r:* +@all -@stream)", "(~* +@hash)"}) {
      if (one_in(4)) rules.emplace_back(rule);
    }
    if (one_in(3)) rules.emplace_back("-@" + any({"set", "list", "slow", "sortedset"}));
    for (const char* rule : {"+eval", "+multi", "+exec", "+discard", "+unwatch"}) {
      rules.emplace_back(rule);
    }
    return rules;
  }

 private:
  using Arg = catalog::Arg;

  bool one_in(uint64_t n) { return random_.below(n) == 0; }
  std::string any(std::initializer_list<const char*> words) {
    return words.begin()[random_.below(words.size())];
  }
  std::string key() {
    const std::string prefix = kPrefixes[random_.below(std::size(kPrefixes))];
    return prefix + (one_in(4) ? kNames[random_.below(std::size(kNames))] : type_);
  }
  std::string number() {
    return one_in(20) ? any({"-1", "999999999999", "01", "x"}) : any({"0", "1", "2", "3", "10"});
  }

  static const char* type_of(catalog::Group group) {
    using catalog::Group;
    switch (group) {
      case Group::kList:
        return "list";
      case Group::kSet:
        return "set";
      case Group::kSortedSet:
        return "zset";
      case Group::kHash:
        return "hash";
      case Group::kHyperLogLog:
        return "hll";
      case Group::kGeo:
        return "geo";
      case Group::kStream:
        return "stream";
      default:
        return "string";
    }
  }

  void append(Words& words, std::span<const Arg> args) {
    size_t counted = 0;  // how many of the next argument were announced
    for (const Arg& arg : args) {
      if (arg.optional && one_in(2)) continue;
      size_t times = arg.multiple ? 1 + random_.below(3) : 1;
      if (arg.multiple && counted != 0) times = std::exchange(counted, 0);
      for (size_t i = 0; i < times; i++) {
        if (!arg.token.empty() && arg.type != catalog::ArgType::kPureToken &&
            (i == 0 || arg.multiple_token)) {
          words.emplace_back(arg.token);
        }
        append_one(words, arg);
      }
      if (arg.name.starts_with("num") && arg.type == catalog::ArgType::kInteger) {
        counted = 1 + random_.below(3);
        words.back() = one_in(20) ? number() : std::to_string(counted);
      }
    }
  }

  void append_one(Words& words, const Arg& arg) {
    switch (arg.type) {
      case catalog::ArgType::kPureToken:
        words.emplace_back(arg.token == "\"\"" ? std::string_view{} : arg.token);
        return;
      case catalog::ArgType::kOneOf:
        return append(words, arg.parts.subspan(random_.below(arg.parts.size()), 1));
      case catalog::ArgType::kBlock:
        return append(words, arg.parts);
      case catalog::ArgType::kKey:
        return words.push_back(key());
      case catalog::ArgType::kInteger:
        return words.push_back(arg.name == "port" ? "1" : number());
      case catalog::ArgType::kDouble:
        return words.push_back(any({"0", "1", "1.5", "2"}));
      case catalog::ArgType::kUnixTime:
        return words.push_back("99999999999");
      case catalog::ArgType::kPattern:
        return words.push_back(any({"*", "a:*", "x:*", "nosort", "r:*->f", "#", "x:string"}));
      case catalog::ArgType::kString:
        return words.push_back(text(arg.name));
    }
  }

  std::string text(std::string_view name) {
    if (name == "script") return "return redis.pcall('GET', KEYS[1] or 'a:string')";
    if (name == "function") return "readkeys";
    if (name == "host") return "127.0.0.1";
    if (name == "port") return "1";
    if (name == "group") return "g";
    return one_in(4) ? key() : any({"1", "m", "f", "0", "1-1", "$", ">", "-", "+", "[a", "(1"});
  }

  std::string odd_word() {
    if (one_in(3)) return key();
    if (one_in(3)) return number();
    return any({"STORE", "STOREDIST", "BY",   "GET",    "KEYS",  "STREAMS", "COUNT",
                "LIMIT", "DB",        "AUTH", "AUTH2",  "GROUP", "REPLACE", "#",
                "*",     "x:*",       "",     "NOACK",  "BLOCK", "WEIGHTS", "MATCH",
                "LEFT",  "HELP",      "SET",  "INCRBY", "IFEQ",  "GETEX"});
  }

  void damage(Words& words, size_t fixed) {
    for (uint64_t times = 1 + random_.below(3); times > 0; times--) {
      const size_t at = fixed + random_.below(words.size() - std::min(fixed, words.size()) + 1);
      const bool inside = at < words.size();
      const auto place = words.begin() + static_cast<ptrdiff_t>(std::min(at, words.size()));
      switch (random_.below(4)) {
        case 0:
          if (inside) words.erase(place);
          break;
        case 1:
          words.insert(place, odd_word());
          break;
        case 2:
          if (inside) *place = odd_word();
          break;
        default:
          if (inside) std::swap(*place, words.back());
          break;
      }
    }
  }

  Random random_;
  const char* type_ = "string";
};

}  // namespace sorrel::testing
