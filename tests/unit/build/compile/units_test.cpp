#include "doctor/build/compile/units.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace sage {
namespace {

std::size_t count(std::string_view target) {
  const auto all = units_of(target);
  return all ? all->units.size() : 0;
}

}  // namespace

TEST_CASE("a target has one unit a row of its tile table and one for the prologue") {
  CHECK(count("gfx1201") == 17);
  CHECK(count("gfx1200") == 17);
  CHECK(count("gfx1100") == 9);
  CHECK(count("gfx90a") == 9);
  CHECK(count("gfx90a:xnack-") == 9);
  CHECK(count("gfx942") == 17);
  CHECK(count("sm_80") == 9);
  CHECK(count("sm_89") == 17);
}

TEST_CASE("a target without kernels has no units") {
  for (const char* target : {"", "gfx1030", "gfx906", "gfx950", "gfx12-generic", "gfx1201 ", "sm_75", "sm_", "sm_9x", "sm_-1",
                             "sm_99999999999999999999", "gfx90a:xnack?"}) {
    INFO(target);
    CHECK_FALSE(units_of(target).has_value());
  }
}

TEST_CASE("every target with kernels has units, each of its own name, the prologue first") {
  for (const std::string& target : targets_with_kernels()) {
    INFO(target);
    const auto all = units_of(target);
    REQUIRE(all.has_value());
    std::set<std::string> names;
    for (const Unit& unit : all->units) names.insert(unit.name);
    CHECK(names.size() == all->units.size());
    CHECK(all->units[0].name == prologue_unit);
    CHECK(all->units[0].kernels.size() == 3);
    CHECK(all->units[1].tile->dp == 256);
  }
}

TEST_CASE("the other length class is that of the same head dim and type") {
  const auto all = units_of("gfx1201");
  REQUIRE(all.has_value());
  CHECK(other_length(*all, all->units[0]) == nullptr);
  for (const Unit& unit : all->units) {
    if (unit.tile == nullptr) continue;
    const Unit* other = other_length(*all, unit);
    REQUIRE(other != nullptr);
    CHECK(other->tile->dp == unit.tile->dp);
    CHECK(other->tile->pv == unit.tile->pv);
    CHECK(other->tile->length != unit.tile->length);
  }
}

TEST_CASE("alternatives are units of their own, and no build has them") {
  for (const char* target : {"gfx1201", "gfx1100", "gfx90a", "gfx942", "sm_80", "sm_90"}) {
    CAPTURE(target);
    const auto all = units_of(target);
    const auto others = alternative_units_of(target);
    REQUIRE(others.has_value());
    CHECK(!others->units.empty());
    CHECK(others->family == all->family);
    for (const Unit& unit : others->units) {
      CHECK(unit.tile->alternative);
      CHECK((all->fp8 || unit.tile->pv == device::PvType::f16));
      CHECK(other_length(*others, unit) == nullptr);
      const auto same = [&](const Unit& one) { return one.name == unit.name; };
      CHECK(std::none_of(all->units.begin(), all->units.end(), same));
    }
  }
  CHECK(!alternative_units_of("gfx906").has_value());
}

TEST_CASE("files of code objects say target and unit") {
  CHECK(object_file_name("gfx1201", "sage_prologue") == "gfx1201-sage_prologue.hsaco");
  CHECK(object_file_name("sm_90", "sage_prologue") == "sm_90-sage_prologue.cubin");
}

}  // namespace sage
