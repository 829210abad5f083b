#include "metadata.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "msgpack.hpp"

namespace sage::code_object {
namespace {

using Kind = MsgpackToken::Kind;

// The largest library seen has some thousands; memory for a hostile note stays near 30 MiB.
constexpr std::size_t most_kernels = 131072;

struct NumberKey {
  std::string_view key;
  std::uint32_t KernelMetadata::*field;
};

constexpr auto number_keys = std::to_array<NumberKey>({
    {".vgpr_count", &KernelMetadata::vgpr_count},
    {".agpr_count", &KernelMetadata::agpr_count},
    {".sgpr_count", &KernelMetadata::sgpr_count},
    {".vgpr_spill_count", &KernelMetadata::vgpr_spill_count},
    {".sgpr_spill_count", &KernelMetadata::sgpr_spill_count},
    {".group_segment_fixed_size", &KernelMetadata::lds_bytes},
    {".private_segment_fixed_size", &KernelMetadata::scratch_bytes_per_lane},
    {".kernarg_segment_size", &KernelMetadata::kernarg_bytes},
    {".kernarg_segment_align", &KernelMetadata::kernarg_alignment},
    {".wavefront_size", &KernelMetadata::wavefront_size},
    {".max_flat_workgroup_size", &KernelMetadata::max_workgroup_size},
});

class MetadataReader {
 public:
  MetadataReader(ByteSpan note, std::uint64_t base) : reader_{note, base} {}

  Result<Metadata> read() {
    Metadata metadata;
    const auto entries = open(Kind::map, "metadata");
    if (!entries) return entries.error();
    for (std::uint64_t i = 0; i < *entries; ++i) {
      const auto key = text("key");
      if (!key) return key.error();
      if (const auto error = read_top_level(*key, metadata)) return *error;
    }
    return metadata;
  }

 private:
  std::optional<Error> read_top_level(std::string_view key, Metadata& metadata) {
    if (key == "amdhsa.version") return numbers(metadata.version, key);
    if (key == "amdhsa.target") return assign(metadata.target, key);
    if (key != "amdhsa.kernels") return reader_.skip();

    if (!metadata.kernels.empty()) return Error{Errc::malformed, reader_.offset(), "two lists of kernels"};
    const auto count = open(Kind::array, key);
    if (!count) return count.error();
    if (*count > most_kernels) {
      return Error{Errc::too_large, reader_.offset(),
                   std::to_string(*count) + " kernels, the cap is " + std::to_string(most_kernels)};
    }
    for (std::uint64_t i = 0; i < *count; ++i) {
      auto kernel = read_kernel();
      if (!kernel) return kernel.error();
      metadata.kernels.push_back(std::move(kernel).value());
    }
    return std::nullopt;
  }

  Result<KernelMetadata> read_kernel() {
    const std::uint64_t start = reader_.offset();
    const auto entries = open(Kind::map, "kernel");
    if (!entries) return entries.error();
    KernelMetadata kernel;
    for (std::uint64_t i = 0; i < *entries; ++i) {
      const auto key = text("key of a kernel");
      if (!key) return key.error();
      if (const auto error = read_kernel_value(*key, kernel)) return *error;
    }
    if (kernel.name.empty() || kernel.symbol.empty())
      return Error{Errc::malformed, start, "a kernel without a name or a symbol"};
    return kernel;
  }

  std::optional<Error> read_kernel_value(std::string_view key, KernelMetadata& kernel) {
    const auto* const numeric =
        std::find_if(number_keys.begin(), number_keys.end(), [&](const NumberKey& k) { return k.key == key; });
    if (numeric != number_keys.end()) {
      const auto value = number(key);
      if (!value) return value.error();
      kernel.*(numeric->field) = *value;
      return std::nullopt;
    }
    if (key == ".name") return assign(kernel.name, key);
    if (key == ".symbol") return assign(kernel.symbol, key);
    if (key == ".args") return read_arguments(kernel);
    if (key == ".reqd_workgroup_size") return numbers(kernel.required_workgroup_size, key);
    if (key == ".uses_dynamic_stack") {
      const auto token = reader_.next();
      if (!token) return token.error();
      if (token->kind != Kind::boolean) return wrong_type(key);
      kernel.dynamic_stack = token->number != 0;
      return std::nullopt;
    }
    return reader_.skip();
  }

  std::optional<Error> read_arguments(KernelMetadata& kernel) {
    const auto count = open(Kind::array, ".args");
    if (!count) return count.error();
    for (std::uint64_t i = 0; i < *count; ++i) {
      const auto entries = open(Kind::map, "argument");
      if (!entries) return entries.error();
      std::uint64_t end = 0;
      bool hidden = false;
      for (std::uint64_t j = 0; j < *entries; ++j) {
        const auto key = text("key of an argument");
        if (!key) return key.error();
        if (*key == ".offset" || *key == ".size") {
          const auto value = number(*key);
          if (!value) return value.error();
          end += *value;
        } else if (*key == ".value_kind") {
          const auto kind = text(*key);
          if (!kind) return kind.error();
          hidden = kind->starts_with("hidden_");
        } else if (const auto error = reader_.skip()) {
          return error;
        }
      }
      if (end > std::numeric_limits<std::uint32_t>::max())
        return Error{Errc::malformed, reader_.offset(), "argument that ends at byte " + std::to_string(end)};
      if (!hidden)
        kernel.explicit_kernarg_bytes = std::max(kernel.explicit_kernarg_bytes, static_cast<std::uint32_t>(end));
    }
    return std::nullopt;
  }

  Result<std::uint64_t> open(Kind kind, std::string_view what) {
    const auto token = reader_.next();
    if (!token) return token.error();
    if (token->kind != kind) return wrong_type(what);
    return token->number;
  }

  Result<std::string_view> text(std::string_view what) {
    const auto token = reader_.next();
    if (!token) return token.error();
    if (token->kind != Kind::text) return wrong_type(what);
    return token->text;
  }

  Result<std::uint32_t> number(std::string_view what) {
    const auto token = reader_.next();
    if (!token) return token.error();
    if (token->kind != Kind::unsigned_int) return wrong_type(what);
    if (token->number > std::numeric_limits<std::uint32_t>::max()) {
      return Error{Errc::malformed, reader_.offset(),
                   "metadata: " + printable(what) + " is " + std::to_string(token->number)};
    }
    return static_cast<std::uint32_t>(token->number);
  }

  std::optional<Error> assign(std::string& field, std::string_view what) {
    const auto value = text(what);
    if (!value) return value.error();
    field = *value;
    return std::nullopt;
  }

  template <std::size_t N>
  std::optional<Error> numbers(std::array<std::uint32_t, N>& field, std::string_view what) {
    const auto count = open(Kind::array, what);
    if (!count) return count.error();
    if (*count != N) return wrong_type(what);
    for (std::uint32_t& element : field) {
      const auto value = number(what);
      if (!value) return value.error();
      element = *value;
    }
    return std::nullopt;
  }

  Error wrong_type(std::string_view what) const {
    return Error{Errc::malformed, reader_.offset(), "metadata: unexpected type of " + printable(what)};
  }

  MsgpackReader reader_;
};

}  // namespace

Result<Metadata> read_metadata(ByteSpan note, std::uint64_t base) {
  return MetadataReader{note, base}.read();
}

}  // namespace sage::code_object
