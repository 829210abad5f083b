#pragma once

#include <toml++/toml.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "probes/base/enum_names.hpp"
#include "probes/base/errno_name.hpp"
#include "probes/base/nearest.hpp"
#include "probes/base/template_kinds.hpp"

/// Typed reading of TOML tables, with errors that name file, line and key. Heavy to include: for the source that reads
/// captures.
namespace sage::toml_section {

template <class T>
struct IsStringMap : std::false_type {};
template <class T>
struct IsStringMap<std::map<std::string, T>> : std::true_type {};

/// Where problems of one capture.toml go. Only the first counts; the rest may follow from it.
class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}

  void add(const toml::source_region& where, const std::string& text) {
    if (first_) return;
    first_ = Error{0, file_ + ":" + std::to_string(where.begin.line) + ": " + text};
  }
  [[nodiscard]] const std::optional<Error>& first() const { return first_; }

 private:
  std::string file_;
  std::optional<Error> first_;
};

// ---- values: each convert() gives what it expected when the node is something else

using Mismatch = std::optional<std::string>;

template <class T>
std::string whole_number_range() {
  return "a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
         std::to_string(std::numeric_limits<T>::max());
}

inline Mismatch convert(const toml::node& node, Error& out) {
  const toml::node* number = &node;
  if (const toml::table* table = node.as_table()) {
    for (const auto& [key, value] : *table) {
      const bool known = (key.str() == "errno" || key.str() == "text") && value.is_string();
      if (!known) return "an errno name or a table with the strings 'errno' and 'text'";
    }
    out = Error{0, std::string(table->get("text") != nullptr ? *table->get("text")->value<std::string_view>() : "")};
    number = table->get("errno");
    if (number == nullptr) return out.text.empty() ? Mismatch("'errno' or 'text'") : std::nullopt;
  } else {
    out = Error{};
  }
  const auto name = number->value<std::string_view>();
  const Result<Errno> known = number->is_string() ? errno_from_name(*name) : Error{};
  if (!known || known->ok()) return "an errno name such as \"EACCES\"";
  out.number = known->value;
  return std::nullopt;
}

template <class T>
Mismatch convert(const toml::node& node, T& out) {
  if constexpr (IsOptional<T>::value) {
    return convert(node, out.emplace());
  } else if constexpr (IsVector<T>::value) {
    const toml::array* list = node.as_array();
    if (list == nullptr) return "a list";
    out.clear();
    for (const toml::node& item : *list) {
      if (Mismatch mismatch = convert(item, out.emplace_back())) return "a list of: " + *mismatch;
    }
    return std::nullopt;
  } else if constexpr (IsStringMap<T>::value) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return "a table";
    for (const auto& [key, value] : *table) {
      if (Mismatch mismatch = convert(value, out[std::string(key.str())])) return "a table of: " + *mismatch;
    }
    return std::nullopt;
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!node.is_string()) return "a string";
    out = *node.value<std::string>();
    return std::nullopt;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!node.is_boolean()) return "true or false";
    out = *node.value<bool>();
    return std::nullopt;
  } else if constexpr (std::is_same_v<T, Errno>) {
    const Result<Errno> known = node.is_string() ? errno_from_name(*node.value<std::string_view>()) : Error{};
    if (!known) return "\"ok\" or an errno name";
    out = *known;
    return std::nullopt;
  } else if constexpr (std::is_enum_v<T>) {
    const auto value = node.is_string() ? enum_from_name<T>(*node.value<std::string_view>()) : std::nullopt;
    if (value) {
      out = *value;
      return std::nullopt;
    }
    std::string names = "one of";
    for (const auto& [candidate, name] : enum_names<T>) names += " \"" + std::string(name) + "\"";
    return names;
  } else {
    static_assert(std::is_integral_v<T>);
    if (!node.is_integer() || !std::in_range<T>(*node.value<std::int64_t>())) return whole_number_range<T>();
    out = static_cast<T>(*node.value<std::int64_t>());
    return std::nullopt;
  }
}

/// One table: reads its keys one by one and knows, when it is closed, which ones nobody asked for.
class Section {
 public:
  Section(const toml::table& table, std::string place, Problems& problems)
      : table_(table), place_(std::move(place)), problems_(problems) {}

  /// Overwrites `out` when the key is there. True when it is.
  template <class T>
  bool read(std::string_view key, T& out) {
    const toml::node* node = find(key);
    if (node == nullptr) return false;
    if (Mismatch mismatch = convert(*node, out)) problem(*node, key, "expected " + *mismatch);
    return true;
  }

  /// The node of a key that needs more than one conversion; nullptr when it is not there.
  const toml::node* find(std::string_view key) {
    known_.push_back(key);
    return table_.get(key);
  }

  const toml::table* find_table(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr) return nullptr;
    if (!node->is_table()) problem(*node, key, "expected a table");
    return node->as_table();
  }

  /// The tables of a [[list]]; nullopt when the key is not there.
  std::optional<std::vector<const toml::table*>> find_tables(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr) return std::nullopt;
    std::vector<const toml::table*> tables;
    if (const toml::array* list = node->as_array()) {
      for (const toml::node& item : *list) {
        if (!item.is_table()) break;
        tables.push_back(item.as_table());
      }
      if (tables.size() == list->size()) return tables;
    }
    problem(*node, key, "expected a list of tables: [[" + std::string(key) + "]]");
    return std::nullopt;
  }

  void problem(const toml::node& node, std::string_view key, const std::string& text) {
    problems_.add(node.source(), place_ + std::string(key) + ": " + text);
  }
  void problem(const std::string& text) { problems_.add(table_.source(), place_ + " " + text); }

  void close() {
    for (const auto& [key, node] : table_) {
      if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
      problems_.add(key.source(),
                    "unknown key '" + place_ + std::string(key.str()) + "'" + did_you_mean(key.str(), known_));
    }
  }

  [[nodiscard]] bool empty() const { return table_.empty(); }
  [[nodiscard]] std::size_t size() const { return table_.size(); }

 private:
  const toml::table& table_;
  std::string place_;  ///< "process." and the like, before a key
  Problems& problems_;
  std::vector<std::string_view> known_;
};

}  // namespace sage::toml_section
