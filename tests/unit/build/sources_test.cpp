#include "doctor/build/sources.hpp"

#include <doctest/doctest.h>

#include "doctor/build/install/digest.hpp"

using namespace sage;

TEST_CASE("the digest that the build wrote is that of the device text") {
  REQUIRE_FALSE(device_text().empty());
  CHECK(device_text_digest() == sha256_hex(device_text()));
}

TEST_CASE("library and header are in the program") {
  CHECK(attention_library().starts_with("\x7f" "ELF"));
  CHECK(attention_header().find("sage_attention_launch") != std::string_view::npos);
}
