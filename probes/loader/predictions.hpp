#pragma once

#include <vector>

#include "probes/facts/libraries.hpp"
#include "probes/facts/python.hpp"
#include "probes/library_places.hpp"
#include "probes/loader/loader_files.hpp"

namespace sage {

/// Which runtime copies a plain program, `import torch` in the first environment, its extensions and Triton end up
/// with. `copies`: every runtime library that was found, by which the files get their names.
[[nodiscard]] Fact<std::vector<LoadPrediction>> predict_loads(LoaderFiles& files, const Python& python,
                                                              const std::vector<FoundLibrary>& copies);

}  // namespace sage
