#pragma once

#include <cstddef>
#include <string_view>

#include "doctor/cli/commands.hpp"

namespace sage {

/// Makes sure that descriptors 0, 1 and 2 are open, so that a file opened later never becomes a closed stdout, and
/// that a reader who goes away is an error code instead of a signal. A closed stdout stays one that takes nothing.
void prepare_standard_streams();

/// False where stdout was closed, or is open for reading only.
[[nodiscard]] bool stdout_takes_text();

/// Writes all of `text` to stdout. A reader who has gone away, or was never there, is no error: `status` comes back.
/// Anything else (a full disk) is told on stderr and is exit_usage.
[[nodiscard]] int write_product(std::string_view text, int status);

/// Columns of the terminal at stdout: COLUMNS, else the terminal's own answer, else 80; at least 20.
[[nodiscard]] std::size_t output_width();

/// Whether to colour stdout: only a terminal, and never with NO_COLOR, CI or TERM=dumb, unless the user insists.
[[nodiscard]] bool output_colour(ColourChoice choice);

}  // namespace sage
