#pragma once

#include <string>

#include "probes/base/result.hpp"

namespace sage {

/// Makes a new folder that nobody else may enter, in TMPDIR, else in /tmp. The Error says why neither would do.
[[nodiscard]] Result<std::string> make_private_folder();

}  // namespace sage
