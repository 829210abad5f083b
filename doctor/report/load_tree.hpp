#pragma once

#include <cstddef>
#include <string>

#include "probes/base/redaction.hpp"
#include "probes/loader/load_story.hpp"

namespace sage {

/// What the process of `story` loads, as a tree: for each library where it comes from and the rule that leads there.
/// Second copies of a runtime library and what is missing stand out. Nothing in it but printable text.
[[nodiscard]] std::string load_tree_text(const LoadStory& story, std::size_t width);

/// The same as JSON, every request with its rule; personal names replaced by `redaction`.
[[nodiscard]] std::string load_tree_json(const LoadStory& story, Redaction redaction);

}  // namespace sage
