// Advice about a file that a command does not take: the first mistakes of new users.
#pragma once

#include <string>

namespace nearwarp::cli {

/// For a word of `command`'s that names neither a workload nor what else it takes: what it is, and
/// which command takes it. Empty if there is no such file.
std::string wrong_file(const std::string& word, const std::string& command);

}  // namespace nearwarp::cli
