#include "probes/proof_child/unbundle.hpp"

#include <string>

#include "kernels/code_object/bundle.hpp"
#include "kernels/code_object/compressed_bundle.hpp"

namespace sage {
namespace {

namespace co = code_object;

std::vector<std::byte> copied(co::ByteSpan bytes) { return {bytes.begin(), bytes.end()}; }

Error defect(const co::Error& error) { return {0, "no sound code object: " + error.message}; }

}  // namespace

Result<std::vector<std::byte>> unbundled(co::ByteSpan file, std::string_view target) {
  switch (co::bundle_kind(file)) {
    case co::BundleKind::none: return copied(file);
    case co::BundleKind::compressed: {
      const auto plain = co::decompress_bundle(file, largest_object);
      if (!plain) return defect(plain.error());
      if (co::bundle_kind(*plain) != co::BundleKind::plain) return Error{0, "a compressed bundle without a bundle"};
      return unbundled(*plain, target);
    }
    case co::BundleKind::plain: break;
  }
  const auto table = co::read_bundle_table(file, file.size());
  if (!table) return defect(table.error());
  for (const co::BundleEntry& entry : table->entries) {
    if (entry.parsed().processor != "amdgcn" || entry.parsed().target != target) continue;
    const auto contents = co::bundle_contents(file, entry);
    if (!contents) return defect(contents.error());
    return copied(*contents);
  }
  return Error{0, "the bundle holds no code object for " + std::string(target)};
}

}  // namespace sage
