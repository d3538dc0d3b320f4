#pragma once

#include <limits>
#include <type_traits>
#include <utility>

#include "config/directive.h"

namespace sorrel::config {

// Makes the rows of a chapter, whose values are members of the struct Group: a program's whole
// options struct, or that of one component.
//
//   using In = config::In<PoolOptions>;
//   constexpr In::Row kPool[] = {
//       {.name = "pool-size",
//        .kind = In::integer<&PoolOptions::size>(1, 100),
//        .help = "Connections kept open."},
//   };
//
// A value is addressed by a path of members: <&Options::clients, &ClientOptions::max_clients>.
template <class Group>
class In {
 public:
  // A Kind whose functions take a Group.
  struct Value {
    Kind kind;
  };
  struct Row {
    std::string_view name;
    std::string_view alias = {};
    uint32_t flags = 0;
    const Part* part = nullptr;  // null: that of the chapter, or none for a row without effect
    Value kind;
    std::string_view help;
  };

  template <auto... Path>
  static constexpr Value boolean() {
    return {BoolKind{[](const void* group) -> bool { return get<Path...>(group); },
                     [](void* group, bool value) { ref<Path...>(group) = value; }}};
  }

  // Fails to compile when a value within the bounds does not fit the member.
  template <auto... Path>
  static consteval Value integer(int64_t min, int64_t max, Unit unit = Unit::kCount) {
    using Type = TypeAt<Path...>;
    if (!std::in_range<Type>(min) || !std::in_range<Type>(max)) throw "bounds beyond the type";
    return {IntegerKind{
        [](const void* group) { return static_cast<int64_t>(get<Path...>(group)); },
        [](void* group, int64_t value) { ref<Path...>(group) = static_cast<Type>(value); }, min,
        max, unit}};
  }

  template <auto... Path>
  static consteval Value bytes(int64_t min, int64_t max) {
    return integer<Path...>(min, max, Unit::kBytes);
  }

  template <auto... Path>
  static constexpr Value wide_bytes() {
    return {WideBytesKind{[](const void* group) -> uint64_t { return get<Path...>(group); },
                          [](void* group, uint64_t value) { ref<Path...>(group) = value; }}};
  }

  using TextCheck = Status (*)(std::string_view);

  // A text for which empty is an ordinary value.
  template <auto... Path>
  static constexpr Value text(TextCheck check = nullptr) {
    return text_kind<Path...>(false, check);
  }

  // A text for which empty means "not set".
  template <auto... Path>
  static constexpr Value optional_text(TextCheck check = nullptr) {
    return text_kind<Path...>(true, check);
  }

  template <auto... Path>
  static constexpr Value words(std::span<const Word> list) {
    return word_kind<Path...>(list, false, nullptr);
  }

  template <auto... Path>
  static constexpr Value word_set(std::span<const Word> list, Status (*check)(int value)) {
    return word_kind<Path...>(list, true, check);
  }

  // Functions over Group that have the signatures of SpecialKind.
  template <auto Parse, auto Format, auto Lines>
  static constexpr Value special() {
    return {
        SpecialKind{[](void* group, Arguments args, Repeat repeat) -> Status {
                      return Parse(*static_cast<Group*>(group), args, repeat);
                    },
                    [](const void* group) { return Format(*static_cast<const Group*>(group)); },
                    [](const void* group) { return Lines(*static_cast<const Group*>(group)); }}};
  }

 private:
  template <auto... Path>
  static const auto& get(const void* group) {
    return (*static_cast<const Group*>(group).*....*Path);
  }
  template <auto... Path>
  static auto& ref(void* group) {
    return (*static_cast<Group*>(group).*....*Path);
  }
  template <auto... Path>
  using TypeAt = std::remove_cvref_t<decltype(get<Path...>(nullptr))>;

  template <auto... Path>
  static constexpr Value text_kind(bool empty_is_unset, TextCheck check) {
    return {
        StringKind{[](const void* group) -> const std::string& { return get<Path...>(group); },
                   [](void* group, std::string value) { ref<Path...>(group) = std::move(value); },
                   empty_is_unset, check}};
  }

  template <auto... Path>
  static constexpr Value word_kind(std::span<const Word> list, bool combine,
                                   Status (*check)(int value)) {
    return {WordKind{
        [](const void* group) { return static_cast<int>(get<Path...>(group)); },
        [](void* group, int value) { ref<Path...>(group) = static_cast<TypeAt<Path...>>(value); },
        list, combine, check}};
  }
};

}  // namespace sorrel::config
