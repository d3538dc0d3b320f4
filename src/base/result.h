#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace sorrel {

// An error with a text for users: a log line, or a RESP error without the leading '-'.
struct Error {
  std::string text;
  int system_error = 0;  // errno of a failed system call; 0: none
};

// Result<T>: a value or an Error. The result type of the whole source tree; ignoring one is a
// compile error.
//
//   Result<int64_t> n = parse(text);
//   if (!n) return n.error();
//   use(*n);
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  bool ok() const { return state_.index() == 0; }

  // Precondition: ok().
  T& operator*() { return *std::get_if<0>(&state_); }
  const T& operator*() const { return *std::get_if<0>(&state_); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }

  // Precondition: !ok().
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

// Status: success, or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}

  explicit operator bool() const { return !error_.has_value(); }
  bool ok() const { return !error_.has_value(); }

  // Precondition: !ok().
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace sorrel
