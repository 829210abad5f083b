#include "cubin.hpp"

#include <map>
#include <string_view>

#include "elf.hpp"

namespace sage::code_object {
namespace {

constexpr std::string_view info_section = ".nv.info";

// An attribute of .nv.info: format, number, then a value of two bytes or, in the sized format, their count and as many bytes.
enum InfoFormat : std::uint8_t { info_sized = 4 };
enum InfoAttribute : std::uint8_t { info_frame_size = 0x11, info_register_count = 0x2f };

using ResourcesBySymbol = std::map<std::uint32_t, CubinResources>;

ResourcesBySymbol read_info(const Bytes& info) {
  ResourcesBySymbol found;
  constexpr std::uint64_t head = 4;
  for (std::uint64_t at = 0; info.contains(at, head);) {
    const bool sized = *info.u8(at) == info_sized;
    const std::uint8_t attribute = *info.u8(at + 1);
    const std::uint64_t length = sized ? *info.u16(at + 2) : 0;
    const auto symbol = info.u32(at + head);
    const auto value = info.u32(at + head + 4);
    at += head + length;
    constexpr std::uint64_t symbol_and_value = 8;
    if (length != symbol_and_value || !symbol || !value) continue;
    if (attribute == info_register_count) found[*symbol].registers = *value;
    if (attribute == info_frame_size) found[*symbol].frame_bytes = *value;
  }
  return found;
}

ResourcesBySymbol read_resources(const ElfFile& file) {
  for (const ElfSection& section : file.sections()) {
    if (section.name != info_section) continue;
    if (const auto contents = file.contents(section)) return read_info(Bytes{*contents});
  }
  return {};
}

}  // namespace

Result<Cubin> read_cubin(ByteSpan bytes) {
  constexpr std::uint8_t binding_global = 1;
  constexpr std::size_t most_kernels = 65536;
  const auto file = ElfFile::open(bytes);
  if (!file) return file.error();
  const ElfHeader& header = file->header();
  if (header.machine != elf::machine_cuda)
    return Error{Errc::unsupported, 18, "ELF machine " + std::to_string(header.machine) + " is not CUDA"};
  // nvcc 13 writes ABI version 8 with the architecture in bits 8-15 (0x6005a04 for sm_90); up to 7 it was in bits 0-7.
  Cubin cubin;
  cubin.sm = (header.abi_version >= 8 ? header.flags >> 8U : header.flags) & 0xffU;
  if (cubin.sm == 0) return Error{Errc::malformed, 48, "no architecture in e_flags"};
  ResourcesBySymbol resources = read_resources(*file);
  std::uint32_t index = 0;
  const auto error = file->for_each_symbol(elf::section_symtab, [&](const ElfSymbol& symbol) {
    const std::uint32_t here = index++;
    if (symbol.type != elf::symbol_function || symbol.binding != binding_global || symbol.section == 0) return;
    if (cubin.kernels.size() == most_kernels) return;
    cubin.kernels.emplace_back(symbol.name);
    cubin.resources.push_back(resources[here]);
  });
  if (error) return *error;
  return cubin;
}

bool loads_on_sm(unsigned object_sm, unsigned device_sm) {
  return object_sm / 10 == device_sm / 10 && object_sm % 10 <= device_sm % 10;
}

}  // namespace sage::code_object
