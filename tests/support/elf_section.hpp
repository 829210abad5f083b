#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/kernels/host/elf_builder.hpp"

namespace sage::test {

/// A shared library for x86_64 without segments whose only section of interest is `name`.
struct SectionSpec {
  std::string name = ".hip_fatbin";
  std::uint32_t type = 1;        ///< SHT_PROGBITS; 8 is SHT_NOBITS
  std::uint64_t extra_size = 0;  ///< a lie: added to the size of the contents
};

inline std::string text_of(const Buffer& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::string library_with_section(const Buffer& contents, const SectionSpec& spec = {}) {
  Buffer out(64);
  pad_to(out, 4096);
  const std::size_t section_at = out.size();
  if (spec.type != 8) out.insert(out.end(), contents.begin(), contents.end());
  const std::size_t names_at = out.size();
  out.push_back(std::byte{0});
  put_text(out, spec.name);
  out.push_back(std::byte{0});
  put_text(out, std::string_view(".shstrtab\0", 10));
  const std::size_t names_size = out.size() - names_at;
  pad_to(out, 8);
  const std::size_t table_at = out.size();
  const auto section = [&](std::uint32_t name, std::uint32_t type, std::uint64_t at, std::uint64_t size) {
    put(out, name);
    put(out, type);
    put<std::uint64_t>(out, 2);  // SHF_ALLOC
    put<std::uint64_t>(out, 0);
    put(out, at);
    put(out, size);
    for (int i = 0; i < 3; ++i) put<std::uint64_t>(out, i == 1 ? 1 : 0);
  };
  section(0, 0, 0, 0);
  section(1, spec.type, section_at, contents.size() + spec.extra_size);
  section(static_cast<std::uint32_t>(spec.name.size() + 2), 3, names_at, names_size);

  Buffer header;
  put_text(header, std::string_view("\x7f"
                                    "ELF\2\1\1",
                                    7));
  header.resize(16);
  put<std::uint16_t>(header, 3);   // ET_DYN
  put<std::uint16_t>(header, 62);  // x86_64
  put<std::uint32_t>(header, 1);
  put<std::uint64_t>(header, 0);
  put<std::uint64_t>(header, 0);
  put<std::uint64_t>(header, table_at);
  put<std::uint32_t>(header, 0);
  for (const int value : {64, 56, 0, 64, 3, 2}) put(header, static_cast<std::uint16_t>(value));
  std::memcpy(out.data(), header.data(), header.size());
  return text_of(out);
}

}  // namespace sage::test
