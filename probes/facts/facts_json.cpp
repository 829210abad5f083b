// Every facts struct lists its fields once, in fields(). All walks (write, read, blank) are made from that list, so that a
// new field can't be in one of them and missing from another.

#include "probes/facts/facts_json.hpp"

#include "probes/facts/json_walk.hpp"

namespace sage {
namespace {

using namespace json_walk;

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
