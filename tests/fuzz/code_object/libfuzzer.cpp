// The entry point of a libFuzzer program; SAGE_FUZZ_ENTRY names one of the functions of entries.hpp.
#include <cstddef>
#include <cstdint>
#include <span>

#include "entries.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // An empty input has no address; the parsers are given one all the same.
  static const std::uint8_t nothing = 0;
  sage::fuzz::SAGE_FUZZ_ENTRY(std::as_bytes(std::span{size == 0 ? &nothing : data, size}));
  return 0;
}
