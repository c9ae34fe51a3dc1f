// The shapes of machines that have a key.
#pragma once

#include <string_view>

namespace nearwarp::config {

/// The shapes whose machines have the key, separated by blanks; empty: all shapes.
std::string_view shapes_of_key(std::string_view path);

}  // namespace nearwarp::config
