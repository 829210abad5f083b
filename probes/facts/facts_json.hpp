#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "probes/base/result.hpp"
#include "probes/facts/facts.hpp"

namespace sage {

/// Facts as JSON: a known fact is its value, an unknown one is {"unknown": reason, "errno": "EACCES"} (errno only
/// when there is one). Enums are their names, Errno "ok" or a symbolic name.
[[nodiscard]] nlohmann::ordered_json facts_to_json(const Facts& facts);

/// The inverse. A missing key leaves the fact unknown ("not recorded"); a value of the wrong type is an Error that
/// names its place ("gpus.amd[1].target: expected a string").
[[nodiscard]] Result<Facts> facts_from_json(const nlohmann::ordered_json& json);

/// The same for one CompileProof, RuntimeProof or PythonProof, as a proof's child answers it.
template <class Proof>
[[nodiscard]] nlohmann::ordered_json proof_to_json(const Proof& proof);
template <class Proof>
[[nodiscard]] Result<Proof> proof_from_json(const nlohmann::ordered_json& json);

/// The place of every known Fact, in order: "gpus.amd[0].target". Places of a list come before those inside it.
[[nodiscard]] std::vector<std::string> known_fact_places(const Facts& facts);

/// A copy in which the fact at `place` is unknown ("blanked"). Error when there is no such place.
[[nodiscard]] Result<Facts> with_fact_blanked(const Facts& facts, const std::string& place);

}  // namespace sage
