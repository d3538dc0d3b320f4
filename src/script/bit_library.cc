#include <bit>
#include <cstring>

#include "script/libraries.h"

// bit: operations on 32 bits, as the BitOp library defines them. Numbers are taken modulo 2^32 and
// results are signed.

namespace sorrel::script {
namespace {

// Adding 1.5 * 2^52 leaves the integer part, rounded, in the low bits of the fraction.
uint32_t check_bits(lua_State* state, int argument) {
  const double shifted = luaL_checknumber(state, argument) + 6755399441055744.0;
  return static_cast<uint32_t>(std::bit_cast<uint64_t>(shifted));
}

int push_bits(lua_State* state, uint32_t bits) {
  lua_pushnumber(state, static_cast<int32_t>(bits));
  return 1;
}

int to_bit(lua_State* state) {
  return push_bits(state, check_bits(state, 1));
}
int bit_not(lua_State* state) {
  return push_bits(state, ~check_bits(state, 1));
}
int byte_swap(lua_State* state) {
  return push_bits(state, __builtin_bswap32(check_bits(state, 1)));
}

template <class Operation>
int fold(lua_State* state, Operation operation) {
  uint32_t bits = check_bits(state, 1);
  for (int i = lua_gettop(state); i > 1; i--) bits = operation(bits, check_bits(state, i));
  return push_bits(state, bits);
}
int bit_and(lua_State* state) {
  return fold(state, [](uint32_t a, uint32_t b) { return a & b; });
}
int bit_or(lua_State* state) {
  return fold(state, [](uint32_t a, uint32_t b) { return a | b; });
}
int bit_xor(lua_State* state) {
  return fold(state, [](uint32_t a, uint32_t b) { return a ^ b; });
}

// Only the low five bits of the distance count.
template <class Operation>
int shift(lua_State* state, Operation operation) {
  const uint32_t bits = check_bits(state, 1);
  return push_bits(state, operation(bits, static_cast<int>(check_bits(state, 2) & 31)));
}
int shift_left(lua_State* state) {
  return shift(state, [](uint32_t bits, int by) { return bits << by; });
}
int shift_right(lua_State* state) {
  return shift(state, [](uint32_t bits, int by) { return bits >> by; });
}
int shift_right_signed(lua_State* state) {
  return shift(state, [](uint32_t bits, int by) {
    return static_cast<uint32_t>(static_cast<int32_t>(bits) >> by);
  });
}
int rotate_left(lua_State* state) {
  return shift(state, [](uint32_t bits, int by) { return std::rotl(bits, by); });
}
int rotate_right(lua_State* state) {
  return shift(state, [](uint32_t bits, int by) { return std::rotr(bits, by); });
}

// bit.tohex: that many digits, upper case when the number is negative; at most eight.
int to_hex(lua_State* state) {
  constexpr int kMost = 8;
  uint32_t bits = check_bits(state, 1);
  int64_t wanted = kMost;
  if (!lua_isnone(state, 2)) wanted = static_cast<int32_t>(check_bits(state, 2));
  const char* digits = wanted < 0 ? "0123456789ABCDEF" : "0123456789abcdef";
  if (wanted < 0) wanted = -wanted;
  const int count = static_cast<int>(wanted > kMost ? kMost : wanted);
  char text[kMost];
  for (int i = count; i-- > 0; bits >>= 4) text[i] = digits[bits & 15];
  lua_pushlstring(state, text, static_cast<size_t>(count));
  return 1;
}

constexpr LibraryFunction kBitFunctions[] = {
    {"tobit", to_bit},       {"bnot", bit_not},
    {"band", bit_and},       {"bor", bit_or},
    {"bxor", bit_xor},       {"lshift", shift_left},
    {"rshift", shift_right}, {"arshift", shift_right_signed},
    {"rol", rotate_left},    {"ror", rotate_right},
    {"bswap", byte_swap},    {"tohex", to_hex},
};

}  // namespace

void open_bit_library(lua_State* state) {
  lua_newtable(state);
  add_functions(state, kBitFunctions);
}

}  // namespace sorrel::script
