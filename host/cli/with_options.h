// Puts the command line's options in place of the library's names of its arguments.
#pragma once

#include <string>
#include <string_view>

namespace nearwarp::cli {

/// A text of the library's, which has names of its arguments between backticks, with the options of
/// those: `hot_nodes` is --hot-nodes. Other words between backticks, and all that is between
/// quotation marks, are a user's and stay. `most`: the option for the argument `most`, which
/// differs from command to command.
std::string with_options(const std::string& text, const std::string& most = "most");

/// Is the word the name of one of the library's arguments?
bool names_argument(std::string_view word);

}  // namespace nearwarp::cli
