#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace sage {

/// Why an operation did not give a value: the errno it failed with (0 when there is none) and a text for people.
struct Error {
  int number = 0;
  std::string text;

  friend bool operator==(const Error&, const Error&) = default;
};

/// A value or the Error that took its place. C++20 has no std::expected; this is the part of it that is used here.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }

  [[nodiscard]] T value_or(T fallback) const { return ok() ? value() : std::move(fallback); }

  friend bool operator==(const Result& a, const Result& b)
    requires std::equality_comparable<T>
  {
    return a.state_ == b.state_;
  }

 private:
  std::variant<T, Error> state_;
};

}  // namespace sage
