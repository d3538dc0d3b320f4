#include <bit>
#include <climits>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "script/libraries.h"

// struct: binary records by a format string.
//
//   > < !n   big endian, little endian, alignment
//   b/B h/H l/L T i[n]/I[n]   integers of 1, 2, 8, 8 and n bytes (4), lower case with a sign
//   f d      floating point        x        a byte of padding
//   s        up to a zero byte     c[n]     n bytes; c0: as many as the number before it says

namespace sorrel::script {
namespace {

constexpr int64_t kLargestInteger = 32;
constexpr int64_t kLargestAlignment = 8;

// A cursor over the format string.
class Format {
 public:
  Format(lua_State* state, std::string_view text) : state_(state), text_(text) {}

  // The next item that has a size or a value; false at the end. Options before it are applied.
  bool next() {
    while (at_ < text_.size()) {
      option = text_[at_++];
      if (option == '\0') return false;
      if (take_option()) continue;
      size = read_size();
      return true;
    }
    return false;
  }

  char option = 0;
  size_t size = 0;
  bool little = true;

  // Bytes of padding before this item at `position`.
  size_t padding(size_t position) const {
    if (size == 0 || option == 'c') return 0;
    const size_t unit = size > alignment_ ? alignment_ : size;
    return (unit - (position & (unit - 1))) & (unit - 1);
  }

 private:
  bool take_option() {
    switch (option) {
      case ' ':
        return true;
      case '>':
        little = false;
        return true;
      case '<':
        little = true;
        return true;
      case '!': {
        const int64_t wanted = read_number(kLargestAlignment);
        if (wanted <= 0 || (wanted & (wanted - 1)) != 0) {
          luaL_error(state_, "alignment %d is not a power of 2", static_cast<int>(wanted));
        }
        alignment_ = static_cast<size_t>(wanted);
        return true;
      }
      default:
        return false;
    }
  }

  size_t read_size() {
    switch (option) {
      case 'b':
      case 'B':
      case 'x':
        return 1;
      case 'h':
      case 'H':
        return sizeof(short);
      case 'l':
      case 'L':
      case 'T':
        return sizeof(long);
      case 'f':
        return sizeof(float);
      case 'd':
        return sizeof(double);
      case 's':
        return 0;
      case 'c':
        return static_cast<size_t>(read_number(1));
      case 'i':
      case 'I': {
        const int64_t wanted = read_number(sizeof(int));
        if (wanted > kLargestInteger) {
          luaL_error(state_, "integral size %d is larger than limit of %d",
                     static_cast<int>(wanted), static_cast<int>(kLargestInteger));
        }
        return static_cast<size_t>(wanted);
      }
      default:
        luaL_argerror(state_, 1, lua_pushfstring(state_, "invalid format option '%c'", option));
        return 0;
    }
  }

  int64_t read_number(int64_t absent) {
    const auto is_digit = [this] {
      return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9';
    };
    if (!is_digit()) return absent;
    int64_t number = 0;
    while (is_digit()) {
      number = number * 10 + (text_[at_++] - '0');
      if (number > INT_MAX) luaL_error(state_, "integral size overflow");
    }
    return number;
  }

  lua_State* state_;
  std::string_view text_;
  size_t at_ = 0;
  size_t alignment_ = 1;
};

Format check_format(lua_State* state) {
  size_t size;
  const char* text = luaL_checklstring(state, 1, &size);
  return {state, {text, size}};
}

// Out of 64 bits: the nearest value; NaN becomes 0.
uint64_t to_integer(double number) {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (std::isnan(number)) return 0;
  if (number < 0)
    return static_cast<uint64_t>(number < -kTwo63 ? INT64_MIN : static_cast<int64_t>(number));
  return number >= 2 * kTwo63 ? UINT64_MAX : static_cast<uint64_t>(number);
}

void put_integer(std::string& out, uint64_t value, size_t size, bool little) {
  const size_t begin = out.size();
  out.resize(begin + size);
  for (size_t i = 0; i < size; i++) {
    out[begin + (little ? i : size - 1 - i)] = static_cast<char>(i < 8 ? value >> (8 * i) : 0);
  }
}

template <class Real, class Bits>
void put_real(std::string& out, double value, bool little) {
  put_integer(out, std::bit_cast<Bits>(static_cast<Real>(value)), sizeof(Real), little);
}

uint64_t get_integer(std::string_view bytes, bool little) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); i++) {
    const size_t at = little ? bytes.size() - 1 - i : i;
    value = value << 8 | static_cast<unsigned char>(bytes[at]);
  }
  return value;
}

double get_number(std::string_view bytes, char option, bool little) {
  const uint64_t value = get_integer(bytes, little);
  const bool is_signed = option >= 'a' && option <= 'z';
  if (!is_signed || bytes.empty()) return static_cast<double>(value);
  const int unused = bytes.size() >= 8 ? 0 : static_cast<int>(64 - 8 * bytes.size());
  return static_cast<double>(static_cast<int64_t>(value << unused) >> unused);
}

void put_text(lua_State* state, std::string& out, Format& format, int argument) {
  size_t length;
  const char* text = luaL_checklstring(state, argument, &length);
  if (format.size == 0) format.size = length;
  luaL_argcheck(state, length >= format.size, argument + 1, "string too short");
  out.append(text, format.size);
  if (format.option == 's') out.push_back('\0');
}

int pack(lua_State* state) {
  Format format = check_format(state);
  std::string out;
  int argument = 2;
  while (format.next()) {
    out.append(format.padding(out.size()), '\0');
    switch (format.option) {
      case 'x':
        out.push_back('\0');
        break;
      case 'f':
        put_real<float, uint32_t>(out, luaL_checknumber(state, argument++), format.little);
        break;
      case 'd':
        put_real<double, uint64_t>(out, luaL_checknumber(state, argument++), format.little);
        break;
      case 'c':
      case 's':
        put_text(state, out, format, argument++);
        break;
      default:
        put_integer(out, to_integer(luaL_checknumber(state, argument++)), format.size,
                    format.little);
    }
  }
  lua_pushlstring(state, out.data(), out.size());
  return 1;
}

// The length of 'c0': the number that was unpacked before it, which is popped.
size_t take_count(lua_State* state, int& count) {
  if (count == 0 || lua_isnumber(state, -1) == 0) {
    luaL_error(state, "format 'c0' needs a previous size");
  }
  const uint64_t size = to_integer(lua_tonumber(state, -1));
  lua_pop(state, 1);
  count--;
  return size;
}

// Unpacks one value of `bytes`. Returns the number of bytes consumed.
size_t push_item(lua_State* state, Format& format, std::string_view bytes, int& count) {
  const std::string_view own = bytes.substr(0, format.size);
  switch (format.option) {
    case 'x':
      return format.size;
    case 'f':
      lua_pushnumber(state,
                     std::bit_cast<float>(static_cast<uint32_t>(get_integer(own, format.little))));
      break;
    case 'd':
      lua_pushnumber(state, std::bit_cast<double>(get_integer(own, format.little)));
      break;
    case 'c': {
      size_t size = format.size;
      if (size == 0) size = take_count(state, count);
      luaL_argcheck(state, size <= bytes.size(), 2, "data string too short");
      lua_pushlstring(state, bytes.data(), size);
      count++;
      return size;
    }
    case 's': {
      const size_t length = bytes.find('\0');
      if (length == std::string_view::npos) luaL_error(state, "unfinished string in data");
      lua_pushlstring(state, bytes.data(), length);
      count++;
      return length + 1;
    }
    default:
      lua_pushnumber(state, get_number(own, format.option, format.little));
  }
  count++;
  return format.size;
}

int unpack(lua_State* state) {
  Format format = check_format(state);
  size_t size;
  const char* data = luaL_checklstring(state, 2, &size);
  const int64_t start = optional_index(state, 3, 1);
  luaL_argcheck(state, start > 0, 3, "offset must be 1 or greater");
  size_t at = static_cast<size_t>(start - 1);
  lua_settop(state, 2);
  int count = 0;
  while (format.next()) {
    at += format.padding(at);
    luaL_argcheck(state, format.size <= size && at <= size - format.size, 2,
                  "data string too short");
    luaL_checkstack(state, 2, "too many results");
    at += push_item(state, format, {data + at, size - at}, count);
  }
  lua_pushnumber(state, static_cast<double>(at + 1));
  return count + 1;
}

int size_of(lua_State* state) {
  Format format = check_format(state);
  size_t total = 0;
  while (format.next()) {
    if (format.option == 's') luaL_argerror(state, 1, "option 's' has no fixed size");
    if (format.option == 'c' && format.size == 0) {
      luaL_argerror(state, 1, "option 'c0' has no fixed size");
    }
    total += format.padding(total) + format.size;
    if (total > INT_MAX) luaL_argerror(state, 1, "size overflow");
  }
  lua_pushnumber(state, static_cast<double>(total));
  return 1;
}

constexpr LibraryFunction kStructFunctions[] = {
    {"pack", pack}, {"unpack", unpack}, {"size", size_of}};

}  // namespace

void open_struct_library(lua_State* state) {
  lua_newtable(state);
  add_functions(state, kStructFunctions);
}

}  // namespace sorrel::script
