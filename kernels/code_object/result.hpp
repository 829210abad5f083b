// A value or the reason why there is none. C++20 has no std::expected, and the library must build with g++-11.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace sage::code_object {

// What kind of defect a file has. Callers branch on this; people read Error::message.
enum class Errc : std::uint8_t {
  truncated,       // the bytes end before something that they announce
  bad_magic,       // not this kind of file at all
  unsupported,     // well-formed, but a version or machine that this reader does not know
  out_of_range,    // an offset or an index points outside of its container, or wraps around
  too_large,       // more than the cap that protects memory and time
  malformed,       // inconsistent content
  bad_compression  // the compressed stream is corrupt or does not give what its header says
};

struct Error {
  Errc code;
  std::uint64_t offset;  // byte position in the input to which the message refers
  std::string message;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_{std::in_place_index<0>, std::move(value)} {}
  Result(Error error) : state_{std::in_place_index<1>, std::move(error)} {}

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  [[nodiscard]] const T& value() const& {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T& value() & {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T&& value() && {
    assert(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  [[nodiscard]] const Error& error() const {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

  const T* operator->() const { return &value(); }
  const T& operator*() const& { return value(); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace sage::code_object
