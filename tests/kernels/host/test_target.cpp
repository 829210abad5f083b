#include <doctest/doctest.h>

#include "code_object/target.hpp"

using namespace sage::code_object;

TEST_CASE("e_flags of code object version 4 and later") {
  const auto id = [](std::uint32_t flags, std::uint8_t abi) {
    const auto target = target_from_flags(flags, abi);
    return target ? target_id(*target) : "error: " + target.error().message;
  };
  // Values that compilers wrote into real objects.
  CHECK(id(0x52f, 2) == "gfx906");
  CHECK(id(0x72f, 2) == "gfx906:xnack+");
  CHECK(id(0x62f, 2) == "gfx906:xnack-");
  CHECK(id(0xe3f, 2) == "gfx90a:sramecc+:xnack-");
  CHECK(id(0x36, 2) == "gfx1030");
  CHECK(id(0x4e, 3) == "gfx1201");
  CHECK(id(0x41, 3) == "gfx1100");
  CHECK(id(0x54c, 3) == "gfx942");
  CHECK(id(0x549, 4) == "gfx1250");
  CHECK(id(0x1000059, 4) == "gfx12-generic");
}

TEST_CASE("features say any, off, on and unsupported apart") {
  const auto any = target_from_flags(0x53f, 3);
  REQUIRE(any.ok());
  CHECK(any->xnack == Feature::any);
  CHECK(any->sramecc == Feature::any);
  const auto mixed = target_from_flags(0xe3f, 3);
  REQUIRE(mixed.ok());
  CHECK(mixed->xnack == Feature::off);
  CHECK(mixed->sramecc == Feature::on);
  const auto none = target_from_flags(0x41, 3);
  REQUIRE(none.ok());
  CHECK(none->xnack == Feature::unsupported);
}

TEST_CASE("version 3 has one bit for each feature, in other places") {
  const auto on = target_from_flags(0x33f, 1);
  REQUIRE(on.ok());
  CHECK(on->xnack == Feature::on);
  CHECK(on->sramecc == Feature::on);
  const auto off = target_from_flags(0x3f, 1);
  REQUIRE(off.ok());
  CHECK(off->xnack == Feature::off);
  const auto without = target_from_flags(0x36, 1);
  REQUIRE(without.ok());
  CHECK(without->xnack == Feature::unsupported);
}

TEST_CASE("headers that name no known target") {
  CHECK(target_from_flags(0x4e, 0).error().code == Errc::unsupported);
  CHECK(target_from_flags(0x4e, 5).error().code == Errc::unsupported);
  CHECK(target_from_flags(0xff, 3).error().code == Errc::unsupported);
  CHECK(target_from_flags(0x59, 4).error().code == Errc::malformed);       // generic without a version
  CHECK(target_from_flags(0x100004e, 4).error().code == Errc::malformed);  // specific with one
}

TEST_CASE("target ids") {
  for (const char* const id :
       {"gfx1201", "gfx90a:sramecc+:xnack-", "gfx90a:xnack+", "gfx12-generic", "gfx9-4-generic:sramecc+"}) {
    const auto target = parse_target_id(id);
    REQUIRE_MESSAGE(target.ok(), id);
    CHECK(target_id(*target) == id);
  }
  CHECK(target_id(*parse_target_id("gfx90a:xnack-:sramecc+")) == "gfx90a:sramecc+:xnack-");
  for (const char* const id : {"", "gfx", "gfx9999", "gfx1201:xnack+", "gfx90a:", "gfx90a:xnack",
                               "gfx90a:xnack+:xnack-", "gfx90a:xnack+:", "gfx90a::xnack+", "GFX90A"}) {
    CHECK_MESSAGE(!parse_target_id(id).ok(), id);
  }
}

TEST_CASE("the loader's rule") {
  const auto loads = [](const char* object, const char* agent) {
    const auto o = parse_target_id(object);
    const auto a = parse_target_id(agent);
    REQUIRE(o.ok());
    REQUIRE(a.ok());
    return loads_on(*o, *a);
  };
  CHECK(loads("gfx1201", "gfx1201"));
  CHECK_FALSE(loads("gfx1200", "gfx1201"));
  CHECK_FALSE(loads("gfx1030", "gfx1031"));
  CHECK(loads("gfx12-generic", "gfx1200"));
  CHECK_FALSE(loads("gfx12-generic", "gfx1100"));
  CHECK_FALSE(loads("gfx1201", "gfx12-generic"));
  CHECK(loads("gfx90a", "gfx90a:sramecc+:xnack-"));
  CHECK(loads("gfx90a:xnack-", "gfx90a:sramecc+:xnack-"));
  CHECK_FALSE(loads("gfx90a:xnack+", "gfx90a:sramecc+:xnack-"));
  CHECK_FALSE(loads("gfx90a:sramecc-", "gfx90a:sramecc+:xnack-"));
}
