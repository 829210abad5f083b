#include "cubin.hpp"

#include "elf.hpp"

namespace sage::code_object {

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
  const auto error = file->for_each_symbol(elf::section_symtab, [&cubin](const ElfSymbol& symbol) {
    if (symbol.type != elf::symbol_function || symbol.binding != binding_global || symbol.section == 0) return;
    if (cubin.kernels.size() < most_kernels) cubin.kernels.emplace_back(symbol.name);
  });
  if (error) return *error;
  return cubin;
}

bool loads_on_sm(unsigned object_sm, unsigned device_sm) {
  return object_sm / 10 == device_sm / 10 && object_sm % 10 <= device_sm % 10;
}

}  // namespace sage::code_object
