// Properties of standard output: how wide it is, and whether somebody looks at it.
#pragma once

#include <cstddef>

namespace nearwarp::cli {

/// Columns for tables: $COLUMNS if it is set, else those of the terminal, else 80; 40 to 400.
size_t output_width();
bool output_is_terminal();

}  // namespace nearwarp::cli
