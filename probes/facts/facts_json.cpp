// Every facts struct lists its fields once, in fields(). The three walks below (write, read, blank) are all made from
// that list, so that a new field can't be in one of them and missing from another.

#include "probes/facts/facts_json.hpp"

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

namespace sage {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* unknown_key = "unknown";

template <class T>
struct IsFact : std::false_type {};
template <class T>
struct IsFact<Fact<T>> : std::true_type {};

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

struct AnyVisitor {
  void operator()(const char*, auto) const {}
};

template <class T>
concept Described = requires { T::fields(AnyVisitor{}); };

// ---- write

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
    return value;
  }
}

// ---- read

using Problem = std::optional<Error>;

Error expected(const std::string& place, std::string_view what) {
  return {0, (place.empty() ? std::string("facts") : place) + ": expected " + std::string(what)};
}

std::string inner(const std::string& place, const char* name) {
  return place.empty() ? std::string(name) : place + "." + name;
}

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
  } else {
    static_assert(std::unsigned_integral<T>);
    if (!json.is_number_unsigned() || json.get<std::uint64_t>() > std::numeric_limits<T>::max()) {
      return expected(place, "a whole number of at most " + std::to_string(sizeof(T) * 8) + " bits");
    }
    out = json.get<T>();
    return std::nullopt;
  }
}

// ---- blank

// Calls `visit(place, fact)` for every known fact. A fact whose visit returns true was blanked: nothing inside it is
// visited.
template <class T, class Visit>
void walk(T& value, const std::string& place, Visit& visit) {
  using Plain = std::remove_const_t<T>;
  if constexpr (IsFact<Plain>::value) {
    if (!value.known() || visit(place, value)) return;
    if constexpr (IsVector<typename Plain::Value>::value) {
      for (std::size_t i = 0; i < value.value().size(); ++i) {
        if constexpr (Described<typename Plain::Value::value_type>) {
          walk(value.value()[i], place + "[" + std::to_string(i) + "]", visit);
        }
      }
    }
  } else if constexpr (IsVector<Plain>::value) {
    for (std::size_t i = 0; i < value.size(); ++i) walk(value[i], place + "[" + std::to_string(i) + "]", visit);
  } else if constexpr (Described<Plain>) {
    Plain::fields([&](const char* name, auto member) { walk(value.*member, inner(place, name), visit); });
  }
}

}  // namespace

nlohmann::ordered_json facts_to_json(const Facts& facts) { return to_json_value(facts); }

Result<Facts> facts_from_json(const nlohmann::ordered_json& json) {
  Facts facts;
  if (Problem problem = read_value(json, "", facts)) return *problem;
  return facts;
}

template <class Proof>
Json proof_to_json(const Proof& proof) {
  return to_json_value(proof);
}

template <class Proof>
Result<Proof> proof_from_json(const Json& json) {
  Proof proof;
  if (Problem problem = read_value(json, "", proof)) return *problem;
  return proof;
}

template Json proof_to_json(const CompileProof&);
template Json proof_to_json(const RuntimeProof&);
template Json proof_to_json(const PythonProof&);
template Result<CompileProof> proof_from_json(const Json&);
template Result<RuntimeProof> proof_from_json(const Json&);
template Result<PythonProof> proof_from_json(const Json&);

std::vector<std::string> known_fact_places(const Facts& facts) {
  std::vector<std::string> places;
  const auto note = [&](const std::string& place, const FactBase&) {
    places.push_back(place);
    return false;
  };
  walk(facts, "", note);
  return places;
}

Result<Facts> with_fact_blanked(const Facts& facts, const std::string& place) {
  Facts copy = facts;
  bool found = false;
  auto blank = [&]<class T>(const std::string& here, Fact<T>& fact) {
    if (here != place) return false;
    found = true;
    fact = Fact<T>::unknown("blanked");
    return true;
  };
  walk(copy, "", blank);
  if (!found) return Error{0, "no known fact at '" + place + "'"};
  return copy;
}

}  // namespace sage
