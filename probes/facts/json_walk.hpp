#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "probes/base/enum_names.hpp"
#include "probes/base/errno_name.hpp"
#include "probes/base/fact.hpp"
#include "probes/base/template_kinds.hpp"

// A struct that is written to JSON lists its fields once, in fields(). Both walks here (write, read) are made from that
// list, so that a new field can't be in one of them and missing from the other. Sources only: it brings in all of
// nlohmann-json.

namespace sage::json_walk {

using Json = nlohmann::ordered_json;

inline constexpr const char* unknown_key = "unknown";

template <class T>
struct IsFact : std::false_type {};
template <class T>
struct IsFact<Fact<T>> : std::true_type {};

struct AnyVisitor {
  void operator()(const char*, auto) const {}
};

template <class T>
concept Described = requires {
  T::fields(AnyVisitor{});
};

// ---- write

/// A known fact is its value, an unknown one {"unknown": reason, "errno": "EACCES"}; enums are their names.
template <class T>
Json to_json_value(const T& value) {
  if constexpr (IsFact<T>::value) {
    if (value.known()) return to_json_value(value.value());
    Json unknown = {{unknown_key, value.why_unknown().text}};
    if (value.why_unknown().number != 0) unknown["errno"] = errno_name(Errno{value.why_unknown().number});
    return unknown;
  } else if constexpr (IsOptional<T>::value) {
    return value ? to_json_value(*value) : Json(nullptr);
  } else if constexpr (IsVector<T>::value) {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(to_json_value(item));
    return list;
  } else if constexpr (Described<T>) {
    Json object = Json::object();
    T::fields([&](const char* name, auto member) { object[name] = to_json_value(value.*member); });
    return object;
  } else if constexpr (std::same_as<T, Errno>) {
    return errno_name(value);
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(enum_name(value));
  } else {
    return value;  // NaN and infinity become null: JSON has no such numbers
  }
}

// ---- read

using Problem = std::optional<Error>;

inline Error expected(const std::string& place, std::string_view what) {
  return {0, (place.empty() ? std::string("the whole") : place) + ": expected " + std::string(what)};
}

inline std::string inner(const std::string& place, const char* name) {
  return place.empty() ? std::string(name) : place + "." + name;
}

/// A missing key leaves what `out` has there; a value of the wrong type is an Error that names its place.
template <class T>
Problem read_value(const Json& json, const std::string& place, T& out);

template <class T>
Problem read_fact(const Json& json, const std::string& place, Fact<T>& out) {
  if (json.is_object() && json.contains(unknown_key) && json[unknown_key].is_string()) {
    Error why{0, json[unknown_key].get<std::string>()};
    if (json.contains("errno")) {
      if (!json["errno"].is_string()) return expected(place + ".errno", "an errno name");
      const Result<Errno> number = errno_from_name(json["errno"].get<std::string>());
      if (!number) return Error{0, place + ".errno: " + number.error().text};
      why.number = number->value;
    }
    out = Fact<T>::unknown(std::move(why));
    return std::nullopt;
  }
  T value{};
  if (Problem problem = read_value(json, place, value)) return problem;
  out = Fact<T>(std::move(value));
  return std::nullopt;
}

template <class T>
Problem read_value(const Json& json, const std::string& place, T& out) {
  if constexpr (IsFact<T>::value) {
    return read_fact(json, place, out);
  } else if constexpr (IsOptional<T>::value) {
    if (json.is_null()) {
      out.reset();
      return std::nullopt;
    }
    return read_value(json, place, out.emplace());
  } else if constexpr (IsVector<T>::value) {
    if (!json.is_array()) return expected(place, "a list");
    out.clear();
    for (const Json& item : json) {
      const std::string item_place = place + "[" + std::to_string(out.size()) + "]";
      if (Problem problem = read_value(item, item_place, out.emplace_back())) return problem;
    }
    return std::nullopt;
  } else if constexpr (Described<T>) {
    if (!json.is_object()) return expected(place, "an object");
    Problem problem;
    T::fields([&](const char* name, auto member) {
      if (problem || !json.contains(name)) return;
      problem = read_value(json[name], inner(place, name), out.*member);
    });
    return problem;
  } else if constexpr (std::same_as<T, Errno>) {
    if (!json.is_string()) return expected(place, "an errno name");
    const Result<Errno> number = errno_from_name(json.get<std::string>());
    if (!number) return Error{0, place + ": " + number.error().text};
    out = *number;
    return std::nullopt;
  } else if constexpr (std::is_enum_v<T>) {
    const auto value = json.is_string() ? enum_from_name<T>(json.get<std::string>()) : std::nullopt;
    if (!value) return expected(place, "one of the names of its kind, not " + json.dump());
    out = *value;
    return std::nullopt;
  } else if constexpr (std::same_as<T, bool>) {
    if (!json.is_boolean()) return expected(place, "true or false");
    out = json.get<bool>();
    return std::nullopt;
  } else if constexpr (std::same_as<T, std::string>) {
    if (!json.is_string()) return expected(place, "a string");
    out = json.get<std::string>();
    return std::nullopt;
  } else if constexpr (std::floating_point<T>) {
    if (!json.is_number() && !json.is_null()) return expected(place, "a number or null");
    out = json.is_null() ? std::numeric_limits<T>::quiet_NaN() : json.get<T>();
    return std::nullopt;
  } else {
    static_assert(std::unsigned_integral<T>);
    if (!json.is_number_unsigned() || json.get<std::uint64_t>() > std::numeric_limits<T>::max()) {
      return expected(place, "a whole number of at most " + std::to_string(sizeof(T) * 8) + " bits");
    }
    out = json.get<T>();
    return std::nullopt;
  }
}

}  // namespace sage::json_walk
