// The name that somebody probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nearwarp::config {

/// The smallest number of insertions, deletions, replacements and swaps of neighbours that turn `a`
/// into `b`.
size_t edit_distance(std::string_view a, std::string_view b);

/// The name nearest to `name`, the first one of equally near names; empty if none is near enough.
std::string nearest_name(std::string_view name, const std::vector<std::string>& names);

/// The names near to `name`, the nearest first, `most` at most: names that are near enough for
/// nearest_name(), and names that contain `name`.
std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& names,
                                       size_t most);

/// " - did you mean 'x'?", or " - valid: a, b, c" if no name is near enough.
std::string suggestion(std::string_view name, const std::vector<std::string>& names);

}  // namespace nearwarp::config
