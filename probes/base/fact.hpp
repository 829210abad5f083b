#pragma once

#include <optional>
#include <string>
#include <utility>

#include "probes/base/result.hpp"

namespace sage {

/// What every Fact shares whatever its type: whether it is known, and why not.
class FactBase {
 public:
  [[nodiscard]] bool known() const { return !unknown_.has_value(); }

  /// Why the value is unknown; meaningful only while known() is false.
  [[nodiscard]] const Error& why_unknown() const { return *unknown_; }

 protected:
  FactBase() = default;
  explicit FactBase(Error why) : unknown_(std::move(why)) {}

  std::optional<Error> unknown_;
};

/// One established fact about the machine, or "unknown" with the reason. A default-made Fact is unknown: "not probed".
template <class T>
class Fact : public FactBase {
 public:
  using Value = T;

  Fact() : FactBase(Error{0, "not probed"}) {}
  Fact(T value) : value_(std::move(value)) {}
  Fact(Result<T> result) {
    if (result.ok()) {
      value_ = std::move(result).value();
    } else {
      unknown_ = result.error();
    }
  }

  [[nodiscard]] static Fact unknown(Error why) { return Fact(std::move(why), 0); }
  [[nodiscard]] static Fact unknown(std::string reason) { return unknown(Error{0, std::move(reason)}); }

  /// The value; only while known().
  [[nodiscard]] const T& value() const { return *value_; }
  [[nodiscard]] T& value() { return *value_; }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return &*value_; }

  [[nodiscard]] T value_or(T fallback) const { return value_ ? *value_ : std::move(fallback); }

  /// True when the value is known and equals `wanted`: an unknown fact is never equal to anything.
  [[nodiscard]] bool is(const T& wanted) const { return value_ && *value_ == wanted; }

  friend bool operator==(const Fact& a, const Fact& b) { return a.value_ == b.value_ && a.unknown_ == b.unknown_; }

 private:
  Fact(Error why, int) : FactBase(std::move(why)) {}

  std::optional<T> value_;
};

}  // namespace sage
