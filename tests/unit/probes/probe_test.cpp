#include "probes/probe.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "probes/facts/facts_json.hpp"
#include "probes/host/capture_reader.hpp"
#include "probes/host/captured_host.hpp"
#include "tests/support/memory_host.hpp"

namespace sage {
namespace {

GfxTables tables() {
  Result<GfxTables> loaded = GfxTables::embedded();
  REQUIRE(loaded.ok());
  return std::move(loaded).value();
}

Facts facts_of_capture(const std::string& name) {
  Result<Capture> capture = read_capture(std::string(SAGE_TEST_SOURCE_DIR) + "/tests/captures/" + name);
  REQUIRE_MESSAGE(capture.ok(), (capture.ok() ? "" : capture.error().text));
  return collect_facts(*make_captured_host(std::move(capture).value()), tables(), ProbeOptions{});
}

}  // namespace

TEST_CASE("a healthy machine's facts are established from its capture") {
  const Facts facts = facts_of_capture("healthy-9070xt");
  CHECK(facts.platform.kind.is(PlatformKind::bare_metal));
  CHECK(facts.platform.container.is(ContainerKind::none));
  CHECK(facts.platform.distribution.id.is("ubuntu"));
  CHECK(facts.devices.kfd.open.is(Errno{}));
  REQUIRE(facts.gpus.amd.known());
  REQUIRE(facts.gpus.amd->size() == 1);
  CHECK(facts.gpus.amd->front().target.is("gfx1201"));
  CHECK(facts.devices.dri->back().open.is(Errno{}));
  CHECK(facts.driver.loaded.is(true));
  CHECK(facts.driver.origin.is(ModuleOrigin::in_tree));
  CHECK(facts.driver.blacklist->empty());
  CHECK(facts.deep.is(false));
}

TEST_CASE("on a machine with nothing in it every probe answers, and no reason is missing") {
  const Facts facts = collect_facts(MemoryHost(), tables(), ProbeOptions{});
  const std::string json = facts_to_json(facts).dump();
  CHECK(json.find("not probed") == std::string::npos);
  CHECK(json.find("\"unknown\":\"\"") == std::string::npos);
  CHECK(facts.devices.kfd.present.is(false));
}

}  // namespace sage
