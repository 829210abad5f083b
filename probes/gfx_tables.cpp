#include "probes/gfx_tables.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "probes/base/embedded.hpp"
#include "probes/base/nearest.hpp"
#include "probes/base/text.hpp"
#include "probes/base/toml_guard.hpp"

namespace sage {
namespace {

constexpr std::uint64_t largest_pci_id = 0xffff;
constexpr std::uint64_t largest_pci_revision = 0xff;

/// What one TOML text holds, before it is merged: a flawed file must change nothing.
struct Rows {
  std::vector<GfxTarget> targets;
  std::vector<GpuModel> models;
  std::vector<OverrideRule> overrides;
  std::vector<std::pair<std::string, std::string>> gc_versions;
  std::vector<std::uint32_t> dxg_allowed;
};

/// What is wrong with the text, and in which line.
struct Flaw {
  std::string reason;
  std::uint32_t line = 0;
};

Flaw flaw_at(const toml::node& node, std::string reason) {
  return {std::move(reason), node.source().begin.line};
}

// ---- values

std::optional<Flaw> read_value(const toml::node& node, std::string& value) {
  const auto text = node.value_exact<std::string>();
  if (!text) return flaw_at(node, "wants a text");
  value = *text;
  return std::nullopt;
}

std::optional<Flaw> read_value(const toml::node& node, bool& value) {
  const auto flag = node.value_exact<bool>();
  if (!flag) return flaw_at(node, "wants true or false");
  value = *flag;
  return std::nullopt;
}

std::optional<Flaw> read_value(const toml::node& node, std::uint32_t& value) {
  const auto number = node.value_exact<std::int64_t>();
  if (!number || *number < 0 || *number > std::numeric_limits<std::uint32_t>::max()) {
    return flaw_at(node, "wants a whole number from 0 to 4294967295");
  }
  value = static_cast<std::uint32_t>(*number);
  return std::nullopt;
}

std::optional<Flaw> read_value(const toml::node& node, OverrideClass& value) {
  const auto known = enum_from_name<OverrideClass>(node.value_exact<std::string>().value_or(""));
  if (!known) return flaw_at(node, "wants \"safe\", \"risky\" or \"bad\"");
  value = *known;
  return std::nullopt;
}

std::optional<Flaw> read_value(const toml::node& node, GpuName& value);

template <class T>
std::optional<Flaw> read_value(const toml::node& node, std::vector<T>& values) {
  const toml::array* list = node.as_array();
  if (list == nullptr) return flaw_at(node, "wants a list");
  values.clear();
  for (const toml::node& element : *list) {
    if (auto flaw = read_value(element, values.emplace_back())) return flaw;
  }
  return std::nullopt;
}

// ---- rows

template <class Row>
struct Column {
  std::string_view name;
  std::optional<Flaw> (*read)(const toml::node&, Row&);
};

template <auto Member, class Row>
std::optional<Flaw> read_member(const toml::node& node, Row& row) {
  return read_value(node, row.*Member);
}

/// Fills a row from a table. What the columns (or sections) do not name is a flaw.
template <class Row>
std::optional<Flaw> read_row(const toml::node& node, std::span<const Column<Row>> columns, Row& row) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return flaw_at(node, "wants a table");
  for (const auto& [toml_key, value] : *table) {
    const std::string key{std::string_view(toml_key)};
    const auto column =
        std::find_if(columns.begin(), columns.end(), [&](const Column<Row>& known) { return known.name == key; });
    if (column == columns.end()) {
      std::vector<std::string_view> names;
      for (const Column<Row>& known : columns) names.push_back(known.name);
      const std::string candidate = nearest(key, names);
      return flaw_at(value, "unknown key '" + key + "'" +
                                (candidate.empty() ? std::string() : "; did you mean '" + candidate + "'?"));
    }
    if (auto flaw = column->read(value, row)) return Flaw{key + ": " + flaw->reason, flaw->line};
  }
  return std::nullopt;
}

constexpr Column<GpuName> name_columns[] = {
    {"name", read_member<&GpuName::name>},
    {"revisions", read_member<&GpuName::revisions>},
};

constexpr Column<GfxTarget> target_columns[] = {
    {"name", read_member<&GfxTarget::name>},
    {"architecture", read_member<&GfxTarget::architecture>},
    {"kfd_version", read_member<&GfxTarget::kfd_version>},
    {"generic", read_member<&GfxTarget::generic>},
    {"covered_by_generic", read_member<&GfxTarget::covered_by_generic>},
    {"members", read_member<&GfxTarget::members>},
    {"elf_machine", read_member<&GfxTarget::elf_machine>},
    {"xnack", read_member<&GfxTarget::xnack>},
    {"sramecc", read_member<&GfxTarget::sramecc>},
    {"wavefront_size", read_member<&GfxTarget::wavefront_size>},
    {"lds_bytes", read_member<&GfxTarget::lds_bytes>},
    {"vgprs_per_simd", read_member<&GfxTarget::vgprs_per_simd>},
    {"vgprs_per_wave", read_member<&GfxTarget::vgprs_per_wave>},
    {"waves_per_simd", read_member<&GfxTarget::waves_per_simd>},
    {"wmma", read_member<&GfxTarget::wmma>},
    {"mfma", read_member<&GfxTarget::mfma>},
    {"sparse", read_member<&GfxTarget::sparse>},
    {"dot4", read_member<&GfxTarget::dot4>},
    {"fp8", read_member<&GfxTarget::fp8>},
    {"llvm_first", read_member<&GfxTarget::llvm_first>},
    {"llvm_first_exact", read_member<&GfxTarget::llvm_first_exact>},
    {"rocm_absent_in", read_member<&GfxTarget::rocm_absent_in>},
    {"rocm_first_official", read_member<&GfxTarget::rocm_first_official>},
    {"rocm_first_mark", read_member<&GfxTarget::rocm_first_mark>},
    {"kernel_first", read_member<&GfxTarget::kernel_first>},
    {"kernel_first_mark", read_member<&GfxTarget::kernel_first_mark>},
    {"torch_wheel", read_member<&GfxTarget::torch_wheel>},
};

constexpr Column<GpuModel> model_columns[] = {
    {"device_id", read_member<&GpuModel::device_id>},     {"target", read_member<&GpuModel::target>},
    {"target_mark", read_member<&GpuModel::target_mark>}, {"integrated", read_member<&GpuModel::integrated>},
    {"codename", read_member<&GpuModel::codename>},       {"names", read_member<&GpuModel::names>},
};

constexpr Column<OverrideRule> override_columns[] = {
    {"target", read_member<&OverrideRule::target>},
    {"value", read_member<&OverrideRule::value>},
    {"verdict", read_member<&OverrideRule::verdict>},
    {"note", read_member<&OverrideRule::note>},
};

constexpr Column<Rows> dxg_columns[] = {
    {"allowed_device_ids", read_member<&Rows::dxg_allowed>},
};

std::optional<Flaw> read_value(const toml::node& node, GpuName& value) {
  return read_row<GpuName>(node, name_columns, value);
}

// ---- what a row must satisfy; empty when it does

constexpr const char* wants_target = "wants a gfx target such as \"gfx1201\"";

bool is_target_name(std::string_view name) {
  return name.starts_with("gfx") && name.size() > 5 && name.size() <= 32 &&
         name.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos;
}

std::string wrong_in(const GfxTarget& target) {
  if (!is_target_name(target.name)) return std::string("name: ") + wants_target;
  if (!target.generic && target_of_kfd_version(target.kfd_version) != target.name) {
    return "kfd_version: " + std::to_string(target.kfd_version) + " is not that of " + target.name;
  }
  return {};
}

std::string wrong_in(const GpuModel& model) {
  if (model.device_id == 0 || model.device_id > largest_pci_id) return "device_id: wants a PCI id from 1 to 0xffff";
  if (!is_target_name(model.target)) return std::string("target: ") + wants_target;
  for (const GpuName& name : model.names) {
    for (const std::uint32_t revision : name.revisions) {
      if (revision > largest_pci_revision) return "revisions: wants PCI revisions from 0 to 0xff";
    }
  }
  return {};
}

std::string wrong_in(const OverrideRule& rule) {
  if (!is_target_name(rule.target)) return std::string("target: ") + wants_target;
  if (!target_of_override(rule.value)) return "value: wants three decimal numbers such as \"11.0.0\"";
  return {};
}

// ---- sections

template <class Row>
std::optional<Flaw> read_rows(const toml::node& node, std::span<const Column<Row>> columns, std::vector<Row>& rows) {
  const toml::array* list = node.as_array();
  if (list == nullptr) return flaw_at(node, "wants a list of tables");
  for (const toml::node& element : *list) {
    Row row;
    if (auto flaw = read_row(element, columns, row)) return flaw;
    if (std::string reason = wrong_in(row); !reason.empty()) return flaw_at(element, std::move(reason));
    rows.push_back(std::move(row));
  }
  return std::nullopt;
}

std::optional<Flaw> read_gc_versions(const toml::node& node, Rows& rows) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return flaw_at(node, "wants a table");
  for (const auto& [key, value] : *table) {
    std::string target;
    if (auto flaw = read_value(value, target)) return flaw;
    if (!is_target_name(target)) return flaw_at(value, wants_target);
    rows.gc_versions.emplace_back(std::string_view(key), target);
  }
  return std::nullopt;
}

constexpr Column<Rows> sections[] = {
    {"gc_version", read_gc_versions},
    {"override", [](const toml::node& node,
                    Rows& rows) { return read_rows<OverrideRule>(node, override_columns, rows.overrides); }},
    {"target",
     [](const toml::node& node, Rows& rows) { return read_rows<GfxTarget>(node, target_columns, rows.targets); }},
    {"gpu", [](const toml::node& node, Rows& rows) { return read_rows<GpuModel>(node, model_columns, rows.models); }},
    {"dxg", [](const toml::node& node, Rows& rows) { return read_row<Rows>(node, dxg_columns, rows); }},
};

std::string version_name(std::uint64_t major, std::uint64_t minor, std::uint64_t stepping) {
  return "gfx" + std::to_string(major) + hex(minor) + hex(stepping);
}

Result<GfxTables> parse_embedded() {
  GfxTables tables;
  for (const EmbeddedFile& file : embedded_tables()) {
    if (const auto error = tables.overlay(file.text, std::string(file.name))) return *error;
  }
  return tables;
}

}  // namespace

Result<GfxTables> GfxTables::embedded() {
  static const Result<GfxTables> tables = parse_embedded();
  return tables;
}

std::optional<Error> GfxTables::overlay(std::string_view toml, const std::string& file) {
  if (auto problem = toml_text_problem(toml, file)) return problem;
  Rows rows;
  std::optional<Flaw> flaw;
  const toml::parse_result parsed = toml::parse(toml);
  if (parsed) {
    flaw = read_row<Rows>(parsed.table(), sections, rows);
  } else {
    flaw = Flaw{std::string(parsed.error().description()), parsed.error().source().begin.line};
  }
  if (flaw) return Error{0, file + ":" + std::to_string(flaw->line) + ": " + flaw->reason};

  for (GfxTarget& row : rows.targets) targets_[row.name] = std::move(row);
  for (GpuModel& row : rows.models) models_[row.device_id] = std::move(row);
  for (auto& [version, target] : rows.gc_versions) gc_versions_[version] = std::move(target);
  for (OverrideRule& row : rows.overrides) {
    const auto same = std::find_if(overrides_.begin(), overrides_.end(), [&](const OverrideRule& known) {
      return known.target == row.target && known.value == row.value;
    });
    if (same == overrides_.end()) {
      overrides_.push_back(std::move(row));
    } else {
      *same = std::move(row);
    }
  }
  dxg_allowed_.insert(dxg_allowed_.end(), rows.dxg_allowed.begin(), rows.dxg_allowed.end());
  return std::nullopt;
}

const GfxTarget* GfxTables::target(std::string_view name) const {
  const auto found = targets_.find(name);
  return found == targets_.end() ? nullptr : &found->second;
}

const GpuModel* GfxTables::model(std::uint32_t device_id) const {
  const auto found = models_.find(device_id);
  return found == models_.end() ? nullptr : &found->second;
}

std::optional<std::string> GfxTables::marketing_name(std::uint32_t device_id,
                                                     std::optional<std::uint32_t> revision) const {
  const GpuModel* known = model(device_id);
  if (known == nullptr || known->names.empty()) return std::nullopt;
  if (revision) {
    for (const GpuName& name : known->names) {
      const auto& revisions = name.revisions;
      if (std::find(revisions.begin(), revisions.end(), *revision) != revisions.end()) return name.name;
    }
    return std::nullopt;
  }
  // Without a revision only an unambiguous name is a name.
  if (known->names.size() == 1) return known->names.front().name;
  return std::nullopt;
}

std::optional<bool> GfxTables::target_integrated(std::string_view target) const {
  std::optional<bool> integrated;
  for (const auto& [id, model] : models_) {
    if (model.target != target) continue;
    if (integrated && *integrated != model.integrated) return std::nullopt;
    integrated = model.integrated;
  }
  return integrated;
}

std::optional<std::string> GfxTables::target_of_gc_version(std::string_view version) const {
  const auto found = gc_versions_.find(version);
  if (found == gc_versions_.end()) return std::nullopt;
  return found->second;
}

const OverrideRule* GfxTables::override_rule(std::string_view target, std::string_view value) const {
  for (const OverrideRule& rule : overrides_) {
    if (rule.target == target && rule.value == value) return &rule;
  }
  return nullptr;
}

bool GfxTables::dxg_allowed(std::uint32_t device_id) const {
  return std::find(dxg_allowed_.begin(), dxg_allowed_.end(), device_id) != dxg_allowed_.end();
}

std::vector<std::string> GfxTables::target_names() const {
  std::vector<std::string> names;
  for (const auto& [name, row] : targets_) names.push_back(name);
  return names;
}

std::optional<std::string> target_of_kfd_version(std::uint64_t version) {
  const std::uint64_t major = version / 10000;
  const std::uint64_t minor = version / 100 % 100;
  const std::uint64_t stepping = version % 100;
  // Minor and stepping are one hex digit each in every name that exists.
  if (major < 6 || major > 63 || minor > 15 || stepping > 15) return std::nullopt;
  return version_name(major, minor, stepping);
}

std::optional<std::string> target_of_override(std::string_view value) {
  constexpr std::uint64_t limits[] = {63, 255, 255};
  const std::vector<std::string_view> parts = split(value, '.');
  if (parts.size() != std::size(limits)) return std::nullopt;
  std::uint64_t numbers[std::size(limits)] = {};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = parse_number(parts[i]);
    if (!number || *number > limits[i]) return std::nullopt;
    numbers[i] = *number;
  }
  return version_name(numbers[0], numbers[1], numbers[2]);
}

}  // namespace sage
