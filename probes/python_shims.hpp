#pragma once

#include <string>

#include "probes/host/host.hpp"

namespace sage {

/// What `name` in `folder` of PATH starts; empty when nothing is there that would start. The shims of pyenv, asdf and
/// mise are scripts or links that start another Python; they lead to the one that their settings choose.
[[nodiscard]] std::string started_by(const Host& host, const std::string& folder, const std::string& name);

}  // namespace sage
