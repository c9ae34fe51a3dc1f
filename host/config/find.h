// Where configuration files are.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace nearwarp::config {

/// Folders that are searched for `kind` ("machines", "policies", "energy", "experiments"), first
/// hit wins: those below each entry of $NEARWARP_CONFIG_PATH (separated by colons), below the
/// installed tree that the executable belongs to, and below the source tree that it was built from.
std::vector<std::filesystem::path> config_folders(std::string_view kind);

/// Is it a path (with a slash or ".toml") and no name?
bool is_path(std::string_view name_or_path);

/// Is the value of a machine's key the name or path of another file?
bool names_file(std::string_view key);

/// The file of a configuration given by name ("v100") or path; throws nearwarp::Error with the
/// nearest valid name if there is none. A path that a file has in a key begins in that file's
/// folder, `from`; one of the command line in the working directory.
std::filesystem::path find_config(std::string_view kind, const std::string& name_or_path,
                                  const std::filesystem::path& from = {});

/// The folder in which paths begin that were given at `place`: "file:line", or "--set key=value".
std::filesystem::path folder_of(const std::string& place);

/// Names of all configurations of a kind, sorted.
std::vector<std::string> config_names(std::string_view kind);

}  // namespace nearwarp::config
