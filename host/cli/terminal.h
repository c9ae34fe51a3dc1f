// Properties of standard output: its width, and whether it is a terminal.
#pragma once

#include <cstddef>

namespace nearwarp::cli {

/// Columns for tables: $COLUMNS if it is set, else those of the terminal, else 80; 40 to 400.
size_t output_width();
/// Whether standard output is a terminal.
bool output_is_terminal();

}  // namespace nearwarp::cli
