// Which keys of machines belong to which shapes.
#pragma once

#include <string_view>

namespace nearwarp::config {

/// The shapes whose machines alone have the key, separated by blanks; empty: all have it.
std::string_view shapes_of_key(std::string_view path);

}  // namespace nearwarp::config
