#pragma once

#include <string>
#include <string_view>

#include "probes/base/result.hpp"

namespace sage {

/// A value as one word of a language that reads it back byte for byte. The Error is the reason why that language has no
/// way to write it: "a line break". A value never holds a zero byte.
using QuoteFunction = Result<std::string> (*)(std::string_view value);

/// sh, bash, dash, zsh, ksh. Takes everything.
[[nodiscard]] Result<std::string> quote_posix(std::string_view value);

/// Takes everything.
[[nodiscard]] Result<std::string> quote_fish(std::string_view value);

/// csh and tcsh. Refuses bytes that are no UTF-8: tcsh changes them.
[[nodiscard]] Result<std::string> quote_csh(std::string_view value);

/// An element of a path list in csh. Refuses also what templates/env/csh.csh could not take off the list again: control
/// characters, and {_}, its word for a blank.
[[nodiscard]] Result<std::string> quote_csh_element(std::string_view value);

/// Refuses bytes that are no UTF-8: strings of PowerShell are UTF-16.
[[nodiscard]] Result<std::string> quote_powershell(std::string_view value);

/// .env files. Their readers agree on single quotes around text without ' \ $ and line breaks, and on nothing else.
[[nodiscard]] Result<std::string> quote_dotenv(std::string_view value);

/// The rest of a line of $GITHUB_ENV after the name: "=value", or a here-document.
[[nodiscard]] Result<std::string> quote_github(std::string_view value);

/// Text between the double quotes of a Dockerfile's ENV. Refuses line breaks.
[[nodiscard]] Result<std::string> quote_docker(std::string_view value);

/// A word of Tcl.
[[nodiscard]] Result<std::string> quote_tcl(std::string_view value);

/// True for well-formed UTF-8 (no overlong forms, no surrogates).
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace sage
