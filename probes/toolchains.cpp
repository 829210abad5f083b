#include "probes/toolchains.hpp"

namespace sage {

Toolchains probe_toolchains(const Host&, const ProbeOptions&, const Python&) {
  Toolchains facts;
  facts.compilers = Fact<std::vector<Toolchain>>::unknown("not looked at");
  facts.torch_rocm_homes = Fact<std::vector<TorchRocmHome>>::unknown("not looked at");
  facts.build_tools = Fact<std::vector<BuildTool>>::unknown("not looked at");
  return facts;
}

}  // namespace sage
