// The library's words for its arguments, and the command line's.
#pragma once

#include <string>
#include <string_view>

namespace nearwarp::cli {

/// A text of the library's, which has names of its arguments between backticks, with the options of
/// those: `hot_nodes` is --hot-nodes. Other words between backticks, and all that is between
/// quotation marks, are a user's and stay. `most`: the option of an argument of
/// this name, which differs from command to command.
std::string with_options(const std::string& text, const std::string& most = "most");

/// Is it one of the library's arguments?
bool names_argument(std::string_view word);

}  // namespace nearwarp::cli
