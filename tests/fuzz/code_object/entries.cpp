#include "entries.hpp"

#include <cstdlib>
#include <string>

#include "code_object/bundle.hpp"
#include "code_object/code_object.hpp"
#include "code_object/compressed_bundle.hpp"
#include "code_object/cubin.hpp"
#include "code_object/elf.hpp"
#include "code_object/msgpack.hpp"

namespace sage::fuzz {
namespace {

using namespace code_object;

// Adds up all bytes: reads them for real, and gives a result that the optimiser cannot drop.
std::uint64_t sum(ByteSpan bytes) {
  std::uint64_t total = 0;
  for (const std::byte b : bytes) total += static_cast<std::uint64_t>(b);
  return total;
}

// An invariant that a parser broke: stop here, with the input in hand.
void require(bool holds) {
  if (!holds) std::abort();
}

void check_error(const Error& error) {
  require(!error.message.empty());
}

void keep(std::uint64_t value) {
  static volatile std::uint64_t sink;
  sink = value;
  static_cast<void>(sink);
}

}  // namespace

void feed_code_object(ByteSpan input) {
  const auto object = read_code_object(input);
  if (!object) return check_error(object.error());
  require(!object->target.processor.empty());
  for (const Kernel& kernel : object->kernels) {
    require(!kernel.metadata.name.empty());
    require(object->find_kernel(kernel.metadata.name) != nullptr);
    for (const std::string& complaint : contradictions(*object, kernel)) require(!complaint.empty());
  }
  const auto file = ElfFile::open(input);
  require(file.ok());
  std::uint64_t total = 0;
  for (const ElfSection& section : file->sections()) {
    const auto contents = file->contents(section);
    require(contents.ok());
    if (!contents->empty()) total += sum(contents->first(1)) + sum(contents->last(1));
    total += section.name.size();
  }
  keep(total);
}

void feed_metadata(ByteSpan input) {
  const auto metadata = read_metadata(input, 0);
  if (!metadata) check_error(metadata.error());
  MsgpackReader reader{input, 0};
  std::uint64_t total = 0;
  while (!reader.at_end()) {
    const auto token = reader.next();
    if (!token) return check_error(token.error());
    total += token->number + sum(as_bytes(token->text));
    require(reader.offset() <= input.size());
  }
  MsgpackReader skipper{input, 0};
  while (!skipper.at_end() && !skipper.skip()) {
  }
  keep(total);
}

void feed_bundle(ByteSpan input) {
  const auto found = find_bundles(input);
  if (!found) check_error(found.error());
  const auto table = read_bundle_table(input, input.size());
  if (!table) return check_error(table.error());
  require(table->size <= input.size());
  std::uint64_t total = 0;
  for (const BundleEntry& entry : table->entries) {
    const auto contents = bundle_contents(input, entry);
    require(contents.ok());
    if (!contents->empty()) total += sum(contents->first(1)) + sum(contents->last(1));
    total += entry.parsed().target.size();
  }
  keep(total);
}

void feed_compressed(ByteSpan input) {
  constexpr std::uint64_t cap = std::uint64_t{1} << 22U;
  const auto unpacked = decompress_bundle(input, cap);
  if (!unpacked) return check_error(unpacked.error());
  require(unpacked->size() <= cap);
  keep(sum(*unpacked));
}

void feed_cubin(ByteSpan input) {
  const auto cubin = read_cubin(input);
  if (!cubin) return check_error(cubin.error());
  require(cubin->sm != 0);
  keep(cubin->kernels.size());
}

void feed_names(ByteSpan input) {
  const std::string_view text = as_text(input);
  const auto target = parse_target_id(text);
  if (target) {
    const auto again = parse_target_id(target_id(*target));
    require(again.ok() && *again == *target);
  } else {
    check_error(target.error());
  }
  const BundleId id = parse_bundle_id(text);
  require(id.kind.size() + id.processor.size() + id.target.size() <= text.size());
  keep(printable(text).size());
}

}  // namespace sage::fuzz
