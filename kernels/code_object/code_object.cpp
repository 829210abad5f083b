#include "code_object.hpp"

#include <algorithm>
#include <unordered_map>

#include "elf.hpp"

namespace sage::code_object {
namespace {

constexpr std::uint8_t os_abi_hsa = 64;
constexpr std::uint32_t note_metadata = 32;
constexpr std::uint64_t descriptor_size = 64;

Result<CodeObject> from_header(const ElfHeader& header) {
  if (header.machine != elf::machine_amdgpu)
    return Error{Errc::unsupported, 18, "ELF machine " + std::to_string(header.machine) + " is not AMDGPU"};
  if (header.os_abi != os_abi_hsa)
    return Error{Errc::unsupported, 7, "AMDGPU file of OS ABI " + std::to_string(header.os_abi) + ", not HSA"};
  auto target = target_from_flags(header.flags, header.abi_version);
  if (!target) return target.error();
  CodeObject object;
  object.target = std::move(target).value();
  object.version = header.abi_version + 2U;
  return object;
}

std::optional<KernelDescriptor> descriptor_at(const Bytes& file, std::uint64_t offset) {
  const auto raw = file.try_slice(offset, descriptor_size);
  if (!raw) return std::nullopt;
  const Bytes bytes{*raw};
  KernelDescriptor descriptor;
  descriptor.lds_bytes = *bytes.u32(0);
  descriptor.scratch_bytes_per_lane = *bytes.u32(4);
  descriptor.kernarg_bytes = *bytes.u32(8);
  descriptor.entry_offset = static_cast<std::int64_t>(*bytes.u64(16));
  descriptor.rsrc3 = *bytes.u32(44);
  descriptor.rsrc1 = *bytes.u32(48);
  descriptor.rsrc2 = *bytes.u32(52);
  descriptor.properties = *bytes.u16(56);
  descriptor.kernarg_preload = *bytes.u16(58);
  return descriptor;
}

// The end of the code counts too: a kernel whose body the compiler found unreachable has no instructions (rocPRIM's
// trampolines for other targets), and one of them stands last.
bool is_code(const ElfFile& file, std::uint64_t address) {
  return std::any_of(file.segments().begin(), file.segments().end(), [&](const ElfSegment& s) {
    return s.type == elf::segment_load && (s.flags & elf::segment_executable) != 0 && address >= s.address &&
           address - s.address <= s.file_size;
  });
}

struct FoundSymbol {
  ElfSymbol symbol;
  bool dynamic = false;
};
using SymbolMap = std::unordered_map<std::string_view, FoundSymbol>;

std::optional<Error> attach(const ElfFile& file, const SymbolMap& symbols, Kernel& kernel) {
  const auto found = symbols.find(kernel.metadata.symbol);
  if (found == symbols.end()) return std::nullopt;
  const std::uint64_t address = found->second.symbol.value;
  const auto offset = file.file_offset(address, descriptor_size);
  if (!offset) {
    return Error{Errc::out_of_range, 0,
                 "descriptor of kernel " + printable(kernel.metadata.name) + " at address " + hex(address) +
                     " is in no loaded segment"};
  }
  kernel.descriptor = descriptor_at(file.bytes(), *offset);
  kernel.exported = found->second.dynamic;
  // Two's complement: adding the offset as an unsigned number is the subtraction for a negative one.
  const std::uint64_t entry = address + static_cast<std::uint64_t>(kernel.descriptor->entry_offset);
  if (!is_code(file, entry)) {
    return Error{
        Errc::out_of_range, *offset + 16,
        "entry of kernel " + printable(kernel.metadata.name) + " at address " + hex(entry) + " is outside of the code"};
  }
  const auto function = symbols.find(kernel.metadata.name);
  if (function != symbols.end() && function->second.symbol.type == elf::symbol_function)
    kernel.code_size = function->second.symbol.size;
  return std::nullopt;
}

}  // namespace

std::optional<std::uint32_t> KernelDescriptor::allocated_vgprs(const Target& target) const {
  const std::string_view name = target.processor;
  std::uint32_t unit = 0;
  if (name.starts_with("gfx125") || name == "gfx12-5-generic" || name.starts_with("gfx13")) return std::nullopt;
  if (name.starts_with("gfx10") || name.starts_with("gfx11") || name.starts_with("gfx12")) {
    unit = wave32() ? 8 : 4;
  } else if (name == "gfx90a" || name.starts_with("gfx94") || name == "gfx950" || name == "gfx9-4-generic") {
    unit = 8;
  } else {
    unit = 4;
  }
  return ((rsrc1 & 0x3fU) + 1) * unit;
}

const Kernel* CodeObject::find_kernel(std::string_view name) const {
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const Kernel& k) { return k.metadata.name == name; });
  return found == kernels.end() ? nullptr : &*found;
}

Result<CodeObject> identify(ByteSpan first_64_bytes) {
  const auto header = read_elf_header(first_64_bytes);
  if (!header) return header.error();
  return from_header(*header);
}

Result<CodeObject> read_code_object(ByteSpan bytes) {
  auto object = identify(bytes);
  if (!object) return object;
  const auto file = ElfFile::open(bytes);
  if (!file) return file.error();
  if (file->header().type != elf::type_shared)
    return Error{Errc::unsupported, 16,
                 "ELF type " + std::to_string(file->header().type) + ": not a linked code object"};

  const auto note = file->find_note("AMDGPU", note_metadata);
  if (!note) return note.error();
  if (!note->has_value()) return Error{Errc::malformed, 0, "no metadata note"};
  auto metadata = read_metadata((*note)->contents, (*note)->offset);
  if (!metadata) return metadata.error();

  CodeObject result = std::move(object).value();
  result.metadata_target = metadata->target;
  SymbolMap symbols;
  for (KernelMetadata& kernel : metadata.value().kernels) {
    // Only these names are kept of a table that may have millions.
    result.kernels.push_back({std::move(kernel), std::nullopt, false, 0});
  }
  for (const Kernel& kernel : result.kernels) {
    symbols.emplace(kernel.metadata.symbol, FoundSymbol{});
    symbols.emplace(kernel.metadata.name, FoundSymbol{});
  }
  const auto collect = [&](bool dynamic) {
    return [&symbols, dynamic](const ElfSymbol& symbol) {
      const auto wanted = symbols.find(symbol.name);
      if (wanted == symbols.end() || symbol.section == 0 || wanted->second.symbol.section != 0) return;
      wanted->second = {symbol, dynamic};
    };
  };
  if (const auto error = file->for_each_symbol(elf::section_dynsym, collect(true))) return *error;
  if (const auto error = file->for_each_symbol(elf::section_symtab, collect(false))) return *error;
  std::erase_if(symbols, [](const auto& entry) { return entry.second.symbol.section == 0; });
  for (Kernel& kernel : result.kernels) {
    if (const auto error = attach(*file, symbols, kernel)) return *error;
  }
  return result;
}

std::vector<std::string> contradictions(const CodeObject& object, const Kernel& kernel) {
  std::vector<std::string> found;
  const KernelMetadata& meta = kernel.metadata;
  if (!object.metadata_target.empty()) {
    const std::string_view named = object.metadata_target;
    const std::string expected = target_id(object.target);
    // Compilers have begun to spell the empty environment of the triple out.
    if (named != "amdgcn-amd-amdhsa--" + expected && named != "amdgcn-amd-amdhsa-unknown-" + expected) {
      found.push_back("metadata names target " + printable(named) + ", the header " + expected);
    }
  }
  if (!kernel.descriptor) {
    found.push_back("no kernel descriptor");
    return found;
  }
  const KernelDescriptor& descriptor = *kernel.descriptor;
  const auto compare = [&found](std::string_view what, std::uint64_t metadata, std::uint64_t actual) {
    if (metadata != actual)
      found.push_back(std::string{what} + ": metadata " + std::to_string(metadata) + ", descriptor " +
                      std::to_string(actual));
  };
  compare("LDS bytes", meta.lds_bytes, descriptor.lds_bytes);
  compare("scratch bytes per lane", meta.scratch_bytes_per_lane, descriptor.scratch_bytes_per_lane);
  compare("kernarg bytes", meta.kernarg_bytes, descriptor.kernarg_bytes);
  const auto allocated = descriptor.allocated_vgprs(object.target);
  if (allocated && meta.vgpr_count > *allocated) {
    found.push_back("vector registers: metadata " + std::to_string(meta.vgpr_count) + ", descriptor allocates " +
                    std::to_string(*allocated));
  }
  if (meta.wavefront_size != 0) compare("wavefront size", meta.wavefront_size, descriptor.wave32() ? 32 : 64);
  return found;
}

}  // namespace sage::code_object
