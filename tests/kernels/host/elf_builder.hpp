// Hand-made AMDGPU code objects and bundles for tests: small, valid, and with every field at a known place.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "code_object/bytes.hpp"

namespace sage::test {

using Buffer = std::vector<std::byte>;

template <class T>
void put(Buffer& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i)));
}

template <class T>
void put_at(Buffer& out, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out.at(at + i) = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
}

inline void put_text(Buffer& out, std::string_view text) {
  for (const char c : text) out.push_back(static_cast<std::byte>(c));
}

inline void pad_to(Buffer& out, std::size_t alignment) {
  while (out.size() % alignment != 0) out.push_back(std::byte{0});
}

// Writes the few MessagePack forms that a note needs, always in their longest encoding so that offsets are predictable.
class Packer {
 public:
  Buffer bytes;
  Packer& map(std::uint32_t pairs) { return head(0xdf, pairs); }
  Packer& array(std::uint32_t elements) { return head(0xdd, elements); }
  Packer& text(std::string_view value) {
    head(0xdb, static_cast<std::uint32_t>(value.size()));
    put_text(bytes, value);
    return *this;
  }
  Packer& number(std::uint32_t value) { return head(0xce, value); }
  Packer& boolean(bool value) {
    bytes.push_back(value ? std::byte{0xc3} : std::byte{0xc2});
    return *this;
  }

 private:
  Packer& head(std::uint8_t code, std::uint32_t value) {
    bytes.push_back(std::byte{code});
    for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes.push_back(static_cast<std::byte>(value >> shift));
    return *this;
  }
};

struct KernelSpec {
  std::string name = "axpy";
  std::uint32_t vgprs = 24;
  std::uint32_t lds = 1024;
  std::uint32_t scratch = 0;
  std::uint32_t kernarg = 24;
  std::uint32_t spills = 0;
  std::uint32_t wave = 32;
  std::uint32_t arguments = 24;  // bytes of the one explicit argument
  std::uint32_t max_threads = 256;
};

struct ObjectSpec {
  std::uint32_t flags = 0x4e;  // gfx1201
  std::uint8_t abi_version = 3;
  std::uint16_t machine = 224;
  std::string target = "amdgcn-amd-amdhsa--gfx1201";
  std::vector<KernelSpec> kernels{KernelSpec{}};
};

inline Buffer metadata_note(const ObjectSpec& spec) {
  Packer note;
  note.map(3);
  note.text("amdhsa.version").array(2).number(1).number(2);
  note.text("amdhsa.target").text(spec.target);
  note.text("amdhsa.kernels").array(static_cast<std::uint32_t>(spec.kernels.size()));
  for (const KernelSpec& kernel : spec.kernels) {
    note.map(13);
    note.text(".args")
        .array(2)
        .map(3)
        .text(".offset")
        .number(0)
        .text(".size")
        .number(kernel.arguments)
        .text(".value_kind")
        .text("by_value");
    note.map(3)
        .text(".offset")
        .number(kernel.arguments)
        .text(".size")
        .number(4)
        .text(".value_kind")
        .text("hidden_block_count_x");
    note.text(".name").text(kernel.name).text(".symbol").text(kernel.name + ".kd");
    note.text(".vgpr_count").number(kernel.vgprs).text(".sgpr_count").number(16);
    note.text(".vgpr_spill_count").number(kernel.spills).text(".sgpr_spill_count").number(0);
    note.text(".group_segment_fixed_size")
        .number(kernel.lds)
        .text(".private_segment_fixed_size")
        .number(kernel.scratch);
    note.text(".kernarg_segment_size").number(kernel.kernarg).text(".wavefront_size").number(kernel.wave);
    note.text(".max_flat_workgroup_size").number(kernel.max_threads).text(".uses_dynamic_stack").boolean(false);
  }
  return note.bytes;
}

// Addresses equal file offsets. Sections: 1 .note, 2 .dynsym, 3 .dynstr, 4 .rodata, 5 .text, 6 .shstrtab.
struct BuiltObject {
  Buffer file;
  std::size_t note = 0, dynsym = 0, dynstr = 0, rodata = 0, text = 0, sections = 0;
  static constexpr std::size_t segments = 64;
};

inline BuiltObject build_object(const ObjectSpec& spec = {}) {
  BuiltObject built;
  Buffer& out = built.file;
  out.resize(64 + 3 * 56);

  built.note = out.size();
  const Buffer note = metadata_note(spec);
  put<std::uint32_t>(out, 7);
  put(out, static_cast<std::uint32_t>(note.size()));
  put<std::uint32_t>(out, 32);
  put_text(out, std::string_view{"AMDGPU\0\0", 8});
  out.insert(out.end(), note.begin(), note.end());
  pad_to(out, 4);
  const std::size_t note_size = out.size() - built.note;

  pad_to(out, 8);
  built.dynsym = out.size();
  const std::size_t symbols = 1 + 2 * spec.kernels.size();
  out.resize(out.size() + symbols * 24);
  built.dynstr = out.size();
  std::vector<std::uint32_t> names;
  out.push_back(std::byte{0});
  for (const KernelSpec& kernel : spec.kernels) {
    for (const std::string& name : {kernel.name, kernel.name + ".kd"}) {
      names.push_back(static_cast<std::uint32_t>(out.size() - built.dynstr));
      put_text(out, name);
      out.push_back(std::byte{0});
    }
  }
  const std::size_t dynstr_size = out.size() - built.dynstr;

  pad_to(out, 64);
  built.rodata = out.size();
  const std::size_t rodata_size = 64 * spec.kernels.size();
  built.text = built.rodata + rodata_size;
  const std::size_t code_size = 64;
  for (std::size_t i = 0; i < spec.kernels.size(); ++i) {
    const KernelSpec& kernel = spec.kernels[i];
    const std::size_t at = out.size();
    out.resize(at + 64);
    put_at(out, at, kernel.lds);
    put_at(out, at + 4, kernel.scratch);
    put_at(out, at + 8, kernel.kernarg);
    put_at(out, at + 16, static_cast<std::uint64_t>(built.text + i * code_size - at));
    const std::uint32_t unit = kernel.wave == 32 ? 8 : 4;
    put_at(out, at + 48, (kernel.vgprs + unit - 1) / unit - 1);
    put_at(out, at + 56, static_cast<std::uint16_t>(kernel.wave == 32 ? 0x400 : 0));
  }
  out.resize(out.size() + code_size * spec.kernels.size());
  const std::size_t text_size = code_size * spec.kernels.size();
  for (std::size_t i = 0; i < spec.kernels.size(); ++i) {
    const auto symbol = [&](std::size_t index, std::uint32_t name, std::uint8_t info, std::uint16_t section,
                            std::uint64_t value, std::uint64_t size) {
      const std::size_t at = built.dynsym + index * 24;
      put_at(out, at, name);
      put_at(out, at + 4, info);
      put_at(out, at + 6, section);
      put_at(out, at + 8, value);
      put_at(out, at + 16, size);
    };
    symbol(1 + 2 * i, names[2 * i], 0x12, 5, built.text + i * code_size, code_size);
    symbol(2 + 2 * i, names[2 * i + 1], 0x11, 4, built.rodata + i * 64, 64);
  }

  const std::size_t shstrtab = out.size();
  put_text(out, std::string_view{"\0.note\0.dynsym\0.dynstr\0.rodata\0.text\0.shstrtab\0", 48});
  const std::size_t shstrtab_size = out.size() - shstrtab;
  pad_to(out, 8);
  built.sections = out.size();
  const auto section = [&](std::uint32_t name, std::uint32_t type, std::size_t offset, std::size_t size,
                           std::uint32_t link, std::uint64_t entry) {
    put(out, name);
    put(out, type);
    put<std::uint64_t>(out, 0);
    put<std::uint64_t>(out, offset);
    put<std::uint64_t>(out, offset);
    put<std::uint64_t>(out, size);
    put(out, link);
    put<std::uint32_t>(out, 0);
    put<std::uint64_t>(out, 1);
    put(out, entry);
  };
  section(0, 0, 0, 0, 0, 0);
  section(1, 7, built.note, note_size, 0, 0);
  section(7, 11, built.dynsym, symbols * 24, 3, 24);
  section(15, 3, built.dynstr, dynstr_size, 0, 0);
  section(23, 1, built.rodata, rodata_size, 0, 0);
  section(31, 1, built.text, text_size, 0, 0);
  section(37, 3, shstrtab, shstrtab_size, 0, 0);

  Buffer header;
  put_text(header, std::string_view{"\x7f"
                                    "ELF\2\1\1\x40",
                                    8});
  put(header, spec.abi_version);
  header.resize(16);
  put<std::uint16_t>(header, 3);
  put(header, spec.machine);
  put<std::uint32_t>(header, 1);
  put<std::uint64_t>(header, 0);
  put<std::uint64_t>(header, 64);
  put<std::uint64_t>(header, built.sections);
  put(header, spec.flags);
  put<std::uint16_t>(header, 64);
  put<std::uint16_t>(header, 56);
  put<std::uint16_t>(header, 3);
  put<std::uint16_t>(header, 64);
  put<std::uint16_t>(header, 7);
  put<std::uint16_t>(header, 6);
  const auto segment = [&](std::uint32_t type, std::uint32_t flags, std::size_t offset, std::size_t size) {
    put(header, type);
    put(header, flags);
    for (int i = 0; i < 3; ++i) put<std::uint64_t>(header, offset);
    put<std::uint64_t>(header, size);
    put<std::uint64_t>(header, size);
    put<std::uint64_t>(header, 1);
  };
  segment(1, 4, 0, built.text);
  segment(1, 5, built.text, text_size);
  segment(4, 4, built.note, note_size);
  std::memcpy(out.data(), header.data(), header.size());
  return built;
}

struct BundleSpecEntry {
  std::string id;
  Buffer contents;
};

inline Buffer build_bundle(const std::vector<BundleSpecEntry>& entries, std::size_t alignment = 4096) {
  Buffer out;
  put_text(out, "__CLANG_OFFLOAD_BUNDLE__");
  put<std::uint64_t>(out, entries.size());
  std::size_t header = out.size();
  for (const BundleSpecEntry& entry : entries) header += 24 + entry.id.size();
  std::size_t at = (header + alignment - 1) / alignment * alignment;
  std::vector<std::size_t> offsets;
  for (const BundleSpecEntry& entry : entries) {
    offsets.push_back(at);
    put<std::uint64_t>(out, at);
    put<std::uint64_t>(out, entry.contents.size());
    put<std::uint64_t>(out, entry.id.size());
    put_text(out, entry.id);
    at = (at + entry.contents.size() + alignment - 1) / alignment * alignment;
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].contents.empty()) continue;
    out.resize(offsets[i]);
    out.insert(out.end(), entries[i].contents.begin(), entries[i].contents.end());
  }
  return out;
}

// CCOB header; `body` follows. total_size and uncompressed_size are written as given, lies included.
inline Buffer build_compressed(unsigned version, unsigned method, std::uint64_t total_size,
                               std::uint64_t uncompressed_size, const Buffer& body) {
  Buffer out;
  put_text(out, "CCOB");
  put(out, static_cast<std::uint16_t>(version));
  put(out, static_cast<std::uint16_t>(method));
  if (version >= 3) {
    put(out, total_size);
    put(out, uncompressed_size);
  } else {
    if (version == 2) put(out, static_cast<std::uint32_t>(total_size));
    put(out, static_cast<std::uint32_t>(uncompressed_size));
  }
  put<std::uint64_t>(out, 0x0123456789abcdef);
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

}  // namespace sage::test
