#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sage {

/// Device code to be made by a library in this process, which may not survive it.
struct LibraryCompile {
  std::string library;  ///< path
  std::string target;   ///< "gfx1201"
  std::string_view text;
  std::vector<std::string> options;  ///< library_options()
};

/// What came of it.
struct LibraryAnswer {
  std::string outcome;  ///< outcome_ok, or a few words: "could not be loaded", "not supported", "error 6 (...)"
  std::string words;    ///< of the library or its compiler; whatever the outcome
  std::string code;     ///< the code object, or a bundle; empty unless ok
};

/// No longer text or code object is taken from a library.
inline constexpr std::size_t largest_library_answer = 64 * 1024 * 1024;

[[nodiscard]] LibraryAnswer compile_in_hiprtc(const LibraryCompile& what);
/// A target that is not in comgr's own list is refused without trying (facts/kernels.md 10).
[[nodiscard]] LibraryAnswer compile_in_comgr(const LibraryCompile& what);


class Library;
/// The refusal of a target that `comgr` does not list; nullopt when it does, and when the library has no such list.
[[nodiscard]] std::optional<LibraryAnswer> comgr_refusal(const Library& comgr, const std::string& target);

}  // namespace sage
