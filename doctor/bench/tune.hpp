#pragma once

#include <cstddef>
#include <string>

#include "doctor/bench/measure.hpp"
#include "doctor/build/install/manifest.hpp"
#include "doctor/build/plan.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// What a tuning needs beside the GPU.
struct TuneSettings {
  std::string prefix;        ///< absolute
  std::string time;          ///< UTC
  std::string tool;          ///< "sage-doctor 0.1.0"
  std::size_t parallel = 1;  ///< compilers at a time
  BenchWish wish;            ///< what is asked of it limits the classes; tokens stand for the class that they are in
};

/// Compiles the alternatives (kernels/device/alternatives.hpp) for the GPU at hand, times them beside the installed
/// kernels on a shape for each class, checks their numbers, and stores the winners with the installation: a new version
/// of it, with their code objects and tuning.txt. Choices of an earlier tuning for classes that are not tried stay. A
/// kernel wins that is at least 2 % faster than the usual one. `manifest` is of place.kernels' installation. Error: no
/// GPU, another source, no place to write.
[[nodiscard]] Result<BenchResult> tune(const BenchPlace& place, const TuneSettings& settings, const Manifest& manifest,
                                       const BuildPlan& plan, const Facts& facts, const Host& host,
                                       const GfxTables& tables, const BenchProgress& progress);

/// The choice among trials of all classes. `usual_of`: the kernel that serves a class without a choice.
[[nodiscard]] std::vector<TuneChoice> choose(
    const std::vector<TuneTrial>& trials, const std::function<std::string(const std::string& shape_class)>& usual_of);

/// The shapes that are timed, a class each: the usual ones, or what the wish leaves of them.
struct TuneCase {
  device::ShapeClass shape_class;
  BenchCase what;
};
[[nodiscard]] std::vector<TuneCase> tune_cases(const BenchWish& wish, device::Family family);

/// The installation as it was before any tuning.
[[nodiscard]] Manifest untuned(Manifest manifest);

}  // namespace sage
