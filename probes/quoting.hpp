#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sage {

/// The text with shell quotes and backslashes removed and nothing expanded (POSIX shell, 2.2). A quote that is not
/// closed reaches to the end.
[[nodiscard]] std::string unquote(std::string_view text);

/// The simple commands of one line of shell script, each a list of its words, still quoted. Ends at a comment; $(...),
/// ${...} and `...` stay whole inside their word. Good enough for assignments: no here-documents, no quotes that span
/// lines.
[[nodiscard]] std::vector<std::vector<std::string_view>> shell_commands(std::string_view line);

}  // namespace sage
