#pragma once

#include "probes/facts/devices.hpp"
#include "probes/facts/driver.hpp"
#include "probes/facts/environment.hpp"
#include "probes/facts/gpus.hpp"
#include "probes/facts/installation.hpp"
#include "probes/facts/libraries.hpp"
#include "probes/facts/platform.hpp"
#include "probes/facts/proofs.hpp"
#include "probes/facts/python.hpp"
#include "probes/facts/rocm.hpp"
#include "probes/facts/toolchains.hpp"
#include "probes/facts/wsl.hpp"

namespace sage {

/// Raised only by additive changes: a reader of version N reads every version up to N.
inline constexpr int facts_version = 1;

/// Everything that the probes established. Checks, env and build read nothing else.
struct Facts {
  Platform platform;
  Devices devices;
  Driver driver;
  Gpus gpus;
  Wsl wsl;
  Rocm rocm;
  Environment environment;
  Python python;
  Libraries libraries;
  Toolchains toolchains;
  Installation installation;
  Proofs proofs;
  Fact<bool> deep;  ///< --deep was given

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("platform", &Facts::platform);
    visit("devices", &Facts::devices);
    visit("driver", &Facts::driver);
    visit("gpus", &Facts::gpus);
    visit("wsl", &Facts::wsl);
    visit("rocm", &Facts::rocm);
    visit("environment", &Facts::environment);
    visit("python", &Facts::python);
    visit("libraries", &Facts::libraries);
    visit("toolchains", &Facts::toolchains);
    visit("installation", &Facts::installation);
    visit("proofs", &Facts::proofs);
    visit("deep", &Facts::deep);
  }
};

}  // namespace sage
