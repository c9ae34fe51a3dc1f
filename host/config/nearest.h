// Suggests valid names for a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nearwarp::config {

/// The fewest insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b);

/// The name nearest to `name`, the first one of equally near names; empty if none is near enough.
std::string nearest_name(std::string_view name, const std::vector<std::string>& names);

/// At most `most` names, the nearest first, that are near enough for nearest_name() or contain
/// `name`.
std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& names,
                                       size_t most);

/// "did you mean 'x' or 'y'? " of nearest_names(); empty if no name is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& names, size_t most);

/// " - did you mean 'x'?", or if no name is near, " - valid: a, b, c".
std::string suggestion(std::string_view name, const std::vector<std::string>& names);

}  // namespace nearwarp::config
