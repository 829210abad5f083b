#include <algorithm>

#include "doctor/checks/distribution.hpp"
#include "doctor/checks/toolchain_rows.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

/// From GCC 15 on libstdc++ calls its assertion handler in functions that device code uses, where assertions are switched
/// on; Fedora's build flags, which its Python hands on to every extension, do so (facts/bugs.md B29, one report).
constexpr std::string_view first_with_host_assertions = "15";

bool compiles_extensions(const Toolchain& compiler) {
  return compiler.kind.is(CompilerKind::hipcc) || compiler.kind.is(CompilerKind::amdclang);
}

}  // namespace

std::vector<Finding> check_cxx_headers(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_compilers(facts)) return {*skip};
  const auto& compilers = *facts.toolchains.compilers;
  if (std::none_of(compilers.begin(), compilers.end(), compiles_extensions)) {
    return {not_applicable("there is no compiler for extensions of PyTorch")};
  }
  const Distribution& distribution = facts.platform.distribution;
  if (auto skip = skip_unless_known({{"toolchains.cxx_headers", &facts.toolchains.cxx_headers},
                                     {"platform.distribution.id", &distribution.id},
                                     {"platform.distribution.id_like", &distribution.id_like}})) {
    return {*skip};
  }
  const std::vector<std::string>& versions = *facts.toolchains.cxx_headers;
  if (versions.empty()) return {info("no C++ headers are in /usr/include/c++")};
  const std::string& newest = versions.front();
  const bool asserts = package_family(distribution) == PackageFamily::fedora;
  if (!asserts || version_below(newest, first_with_host_assertions)) {
    return {pass("hipcc takes the headers of libstdc++ " + newest)};
  }
  Finding finding = warn("device code may not compile with the headers of libstdc++ " + newest);
  finding.evidence = {{"/usr/include/c++", newest}};
  finding.cause = "With assertions, which this distribution switches on for every build, these headers call "
                  "__glibcxx_assert_fail, a function of the host, in functions that device code uses.";
  finding.confidence = Confidence::possible;
  finding.remedies = {{"If an extension fails with \"reference to __host__ function '__glibcxx_assert_fail'\", switch the "
                       "assertions off for its device code.",
                       {"export HIPCC_COMPILE_FLAGS_APPEND=-U_GLIBCXX_ASSERTIONS"},
                       {}}};
  finding.verify = "ls /usr/include/c++";
  return {finding};
}

}  // namespace sage
