#include "probes/facts/facts_json.hpp"

#include <cerrno>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace sage {
namespace {

Facts sample() {
  Facts facts;
  facts.platform.kind = PlatformKind::wsl2;
  facts.platform.memory_total = std::uint64_t{1} << 40;
  facts.devices.kfd.path = "/dev/kfd";
  facts.devices.kfd.open = Errno{EACCES};
  facts.devices.kfd.mode = Fact<std::uint32_t>::unknown(Error{EPERM, "stat /dev/kfd: operation not permitted"});
  Gpu gpu;
  gpu.id = "0000:03:00.0";
  gpu.target = std::string("gfx1201");
  gpu.target_source = TargetSource::kfd;
  facts.gpus.amd = std::vector<Gpu>{gpu};
  facts.environment.variables.push_back({"HIP_VISIBLE_DEVICES", std::optional<std::string>(), {}});
  facts.environment.variables.push_back({"ROCM_HOME", std::optional<std::string>("None"), {}});
  return facts;
}

}  // namespace

TEST_CASE("facts come back from JSON as they were") {
  const auto json = facts_to_json(sample());
  CHECK(json["devices"]["kfd"]["open"] == "EACCES");
  CHECK(json["devices"]["kfd"]["mode"]["errno"] == "EPERM");
  CHECK(json["environment"]["variables"][0]["value"].is_null());

  const auto read = facts_from_json(json);
  REQUIRE(read.ok());
  CHECK(facts_to_json(*read) == json);
  CHECK(read->environment.get("HIP_VISIBLE_DEVICES").known());
  CHECK_FALSE(read->environment.get("HIP_VISIBLE_DEVICES").value().has_value());
  CHECK_FALSE(read->environment.get("NOT_RECORDED").known());
}

TEST_CASE("a wrong type names its place") {
  auto json = facts_to_json(sample());
  json["gpus"]["amd"][0]["target"] = 12;
  const auto read = facts_from_json(json);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().text == "gpus.amd[0].target: expected a string");
}

TEST_CASE("every known fact can be blanked, one at a time") {
  const Facts facts = sample();
  const auto places = known_fact_places(facts);
  CHECK(places.size() == 8);
  for (const std::string& place : places) {
    const auto blanked = with_fact_blanked(facts, place);
    REQUIRE(blanked.ok());
    CHECK(known_fact_places(*blanked).size() < places.size());
  }
  CHECK_FALSE(with_fact_blanked(facts, "gpus.amd[7].target").ok());
}

}  // namespace sage
