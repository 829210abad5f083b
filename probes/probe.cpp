#include "probes/probe.hpp"

#include "probes/devices.hpp"
#include "probes/driver.hpp"
#include "probes/environment.hpp"
#include "probes/gpus.hpp"
#include "probes/installation.hpp"
#include "probes/libraries.hpp"
#include "probes/platform.hpp"
#include "probes/proofs.hpp"
#include "probes/python.hpp"
#include "probes/rocm.hpp"
#include "probes/toolchains.hpp"
#include "probes/wsl.hpp"

namespace sage {

Facts collect_facts(const Host& host, const GfxTables& tables, const ProbeOptions& options) {
  Facts facts;
  facts.platform = probe_platform(host);
  facts.python = probe_python(host, options);
  facts.wsl = probe_wsl(host, options, facts.platform, facts.python);
  facts.gpus = probe_gpus(host, tables, options, facts.platform, facts.wsl);
  // Which render nodes may be opened depends on which GPUs are awake.
  facts.devices = probe_devices(host, facts.gpus);
  facts.driver = probe_driver(host, facts.platform);
  facts.rocm = probe_rocm(host, options, facts.platform, facts.python);
  facts.environment = probe_environment(host, options);
  facts.libraries = probe_libraries(host, options, facts.python);
  facts.toolchains = probe_toolchains(host, options, facts.python);
  facts.installation = probe_installation(host, options);
  facts.deep = options.deep;
  facts.proofs = probe_proofs(host, options, facts);
  return facts;
}

}  // namespace sage
