#include "target.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "bytes.hpp"

namespace sage::code_object {
namespace {

struct Processor {
  std::string_view name;
  std::uint8_t mach;
  bool xnack;
  bool sramecc;
  std::string_view generic;  // the generic processor that covers it
  bool is_generic;
};

// Values of LLVM's EF_AMDGPU_MACH. Those that clang-19 can compile are checked against its output by the tests; the
// rest is from LLVM's ELF.h. gfx940 and gfx941 were never sold and LLVM has dropped them, but old wheels hold them.
constexpr auto processors = std::to_array<Processor>({
    {"gfx600", 0x20, false, false, "", false},
    {"gfx601", 0x21, false, false, "", false},
    {"gfx602", 0x3a, false, false, "", false},
    {"gfx700", 0x22, false, false, "", false},
    {"gfx701", 0x23, false, false, "", false},
    {"gfx702", 0x24, false, false, "", false},
    {"gfx703", 0x25, false, false, "", false},
    {"gfx704", 0x26, false, false, "", false},
    {"gfx705", 0x3b, false, false, "", false},
    {"gfx801", 0x28, true, false, "", false},
    {"gfx802", 0x29, false, false, "", false},
    {"gfx803", 0x2a, false, false, "", false},
    {"gfx805", 0x3c, false, false, "", false},
    {"gfx810", 0x2b, true, false, "", false},
    {"gfx900", 0x2c, true, false, "gfx9-generic", false},
    {"gfx902", 0x2d, true, false, "gfx9-generic", false},
    {"gfx904", 0x2e, true, false, "gfx9-generic", false},
    {"gfx906", 0x2f, true, true, "gfx9-generic", false},
    {"gfx908", 0x30, true, true, "", false},
    {"gfx909", 0x31, true, false, "gfx9-generic", false},
    {"gfx90a", 0x3f, true, true, "", false},
    {"gfx90c", 0x32, true, false, "gfx9-generic", false},
    {"gfx940", 0x40, true, true, "", false},
    {"gfx941", 0x4b, true, true, "", false},
    {"gfx942", 0x4c, true, true, "gfx9-4-generic", false},
    {"gfx950", 0x4f, true, true, "gfx9-4-generic", false},
    {"gfx1010", 0x33, true, false, "gfx10-1-generic", false},
    {"gfx1011", 0x34, true, false, "gfx10-1-generic", false},
    {"gfx1012", 0x35, true, false, "gfx10-1-generic", false},
    {"gfx1013", 0x42, true, false, "gfx10-1-generic", false},
    {"gfx1030", 0x36, false, false, "gfx10-3-generic", false},
    {"gfx1031", 0x37, false, false, "gfx10-3-generic", false},
    {"gfx1032", 0x38, false, false, "gfx10-3-generic", false},
    {"gfx1033", 0x39, false, false, "gfx10-3-generic", false},
    {"gfx1034", 0x3e, false, false, "gfx10-3-generic", false},
    {"gfx1035", 0x3d, false, false, "gfx10-3-generic", false},
    {"gfx1036", 0x45, false, false, "gfx10-3-generic", false},
    {"gfx1100", 0x41, false, false, "gfx11-generic", false},
    {"gfx1101", 0x46, false, false, "gfx11-generic", false},
    {"gfx1102", 0x47, false, false, "gfx11-generic", false},
    {"gfx1103", 0x44, false, false, "gfx11-generic", false},
    {"gfx1150", 0x43, false, false, "gfx11-generic", false},
    {"gfx1151", 0x4a, false, false, "gfx11-generic", false},
    {"gfx1152", 0x55, false, false, "gfx11-generic", false},
    {"gfx1153", 0x58, false, false, "gfx11-generic", false},
    {"gfx1154", 0x57, false, false, "", false},
    {"gfx1170", 0x5d, false, false, "", false},
    {"gfx1171", 0x5e, false, false, "", false},
    {"gfx1172", 0x5c, false, false, "", false},
    {"gfx1200", 0x48, false, false, "gfx12-generic", false},
    {"gfx1201", 0x4e, false, false, "gfx12-generic", false},
    {"gfx1250", 0x49, true, true, "gfx12-5-generic", false},
    {"gfx1251", 0x5a, true, true, "gfx12-5-generic", false},
    {"gfx1310", 0x50, false, false, "", false},
    {"gfx9-generic", 0x51, true, false, "", true},
    {"gfx9-4-generic", 0x5f, true, true, "", true},
    {"gfx10-1-generic", 0x52, true, false, "", true},
    {"gfx10-3-generic", 0x53, false, false, "", true},
    {"gfx11-generic", 0x54, false, false, "", true},
    {"gfx11-7-generic", 0x62, false, false, "", true},
    {"gfx12-generic", 0x59, false, false, "", true},
    {"gfx12-5-generic", 0x5b, true, true, "", true},
    {"gfx13-generic", 0x63, false, false, "", true},
});

const Processor* find(std::string_view name) {
  const auto* const found =
      std::find_if(processors.begin(), processors.end(), [&](const Processor& p) { return p.name == name; });
  return found == processors.end() ? nullptr : found;
}

const Processor* find(std::uint8_t mach) {
  const auto* const found =
      std::find_if(processors.begin(), processors.end(), [&](const Processor& p) { return p.mach == mach; });
  return found == processors.end() ? nullptr : found;
}

constexpr std::uint8_t abi_version_v2 = 0;
constexpr std::uint8_t abi_version_v3 = 1;
constexpr std::uint8_t abi_version_v6 = 4;

Feature decode_v4(std::uint32_t two_bits) {
  switch (two_bits & 3U) {
    case 1:
      return Feature::any;
    case 2:
      return Feature::off;
    case 3:
      return Feature::on;
    default:
      return Feature::unsupported;
  }
}

Feature decode_v3(bool has_feature, bool bit) {
  if (!has_feature) return Feature::unsupported;
  return bit ? Feature::on : Feature::off;
}

bool feature_allows(Feature object, Feature agent) {
  // An agent that does not say (`any`, `unsupported`) is one whose id has no suffix: only an object that is just as
  // open fits. This is the loader's own rule: "any" in the object, or equality.
  if (object == Feature::any || object == Feature::unsupported) return true;
  return object == agent;
}

}  // namespace

Result<Target> target_from_flags(std::uint32_t e_flags, std::uint8_t abi_version) {
  constexpr std::uint64_t abi_version_at = 8;
  constexpr std::uint64_t flags_at = 48;
  if (abi_version == abi_version_v2) {
    return Error{Errc::unsupported, abi_version_at, "code object version 2: its header does not name the processor"};
  }
  if (abi_version > abi_version_v6) {
    return Error{Errc::unsupported, abi_version_at,
                 "code object ABI version " + std::to_string(abi_version) + " is newer than this reader"};
  }
  const auto mach = static_cast<std::uint8_t>(e_flags & 0xffU);
  const Processor* const processor = find(mach);
  if (processor == nullptr)
    return Error{Errc::unsupported, flags_at, "unknown processor number " + hex(mach) + " in e_flags"};

  Target target{std::string{processor->name}, mach, Feature::unsupported, Feature::unsupported, 0};
  if (abi_version == abi_version_v3) {
    target.xnack = decode_v3(processor->xnack, (e_flags & 0x100U) != 0);
    target.sramecc = decode_v3(processor->sramecc, (e_flags & 0x200U) != 0);
    return target;
  }
  target.xnack = decode_v4(e_flags >> 8U);
  target.sramecc = decode_v4(e_flags >> 10U);
  const auto generic_version = static_cast<std::uint8_t>(e_flags >> 24U);
  if (processor->is_generic && generic_version == 0) {
    return Error{Errc::malformed, flags_at, "generic processor " + target.processor + " without a generic version"};
  }
  if (!processor->is_generic && generic_version != 0) {
    return Error{Errc::malformed, flags_at, "generic version on the specific processor " + target.processor};
  }
  target.generic_version = generic_version;
  return target;
}

Result<Target> parse_target_id(std::string_view id) {
  const std::size_t colon = id.find(':');
  const Processor* const processor = find(id.substr(0, colon));
  if (processor == nullptr)
    return Error{Errc::unsupported, 0, "unknown processor in target id '" + printable(id) + "'"};
  Target target{std::string{processor->name}, processor->mach, Feature::unsupported, Feature::unsupported, 0};
  if (processor->xnack) target.xnack = Feature::any;
  if (processor->sramecc) target.sramecc = Feature::any;
  if (processor->is_generic) target.generic_version = 1;

  std::string_view rest = colon == std::string_view::npos ? std::string_view{} : id.substr(colon);
  bool seen_xnack = false;
  bool seen_sramecc = false;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(end);
    const Feature setting = word.ends_with('+') ? Feature::on : Feature::off;
    const bool signed_word = word.ends_with('+') || word.ends_with('-');
    const std::string_view name = signed_word ? word.substr(0, word.size() - 1) : std::string_view{};
    if (name == "xnack" && processor->xnack && !seen_xnack) {
      seen_xnack = true;
      target.xnack = setting;
    } else if (name == "sramecc" && processor->sramecc && !seen_sramecc) {
      seen_sramecc = true;
      target.sramecc = setting;
    } else {
      return Error{Errc::malformed, 0, "feature '" + printable(word) + "' in target id '" + printable(id) + "'"};
    }
  }
  return target;
}

std::string target_id(const Target& target) {
  std::string id = target.processor;
  const auto add = [&id](std::string_view name, Feature feature) {
    if (feature != Feature::on && feature != Feature::off) return;
    id += ':';
    id += name;
    id += feature == Feature::on ? '+' : '-';
  };
  add("sramecc", target.sramecc);
  add("xnack", target.xnack);
  return id;
}

bool loads_on(const Target& object, const Target& agent) {
  if (!feature_allows(object.xnack, agent.xnack) || !feature_allows(object.sramecc, agent.sramecc)) return false;
  if (object.processor == agent.processor) return true;
  return object.generic() && generic_of(agent.processor) == object.processor;
}

std::optional<std::string_view> generic_of(std::string_view processor) {
  const Processor* const found = find(processor);
  if (found == nullptr || found->generic.empty()) return std::nullopt;
  return found->generic;
}

std::string_view to_text(Feature feature) {
  switch (feature) {
    case Feature::any:
      return "any";
    case Feature::off:
      return "off";
    case Feature::on:
      return "on";
    case Feature::unsupported:
      break;
  }
  return "unsupported";
}

}  // namespace sage::code_object
