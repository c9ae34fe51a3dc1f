// Finds configuration files by name or path.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace nearwarp::config {

/// Folders that are searched for `kind` ("machines", "policies", "energy", "dram", "area",
/// "experiments"), in this order: those below each entry of $NEARWARP_CONFIG_PATH (separated by
/// colons), below the installed trees that the executable and this library belong to, and below the
/// source tree.
std::vector<std::filesystem::path> config_folders(std::string_view kind);

/// Is the text a path (it has a slash or ends with ".toml") rather than a name?
bool is_path(std::string_view name_or_path);

/// Is the value of this key of machines the name or path of another file?
bool names_file(std::string_view key);

/// The file of a configuration given by name ("v100") or path. A relative path begins in the folder
/// `from`, which is that of the file that contains the path; empty: the working directory. Throws
/// nearwarp::Error, with the nearest valid name, if there is no such file.
std::filesystem::path find_config(std::string_view kind, const std::string& name_or_path,
                                  const std::filesystem::path& from = {});

/// The folder for find_config()'s `from` of a path at `place`, which is as in Places.
std::filesystem::path folder_of(const std::string& place);

/// Names of all configurations of a kind, sorted.
std::vector<std::string> config_names(std::string_view kind);

}  // namespace nearwarp::config
