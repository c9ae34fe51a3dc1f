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

/// The file of a configuration given by name ("tom") or path (with a slash or ".toml"); throws
/// nearwarp::Error with the nearest valid name if there is none.
std::filesystem::path find_config(std::string_view kind, const std::string& name_or_path);

/// Names of all configurations of a kind, sorted.
std::vector<std::string> config_names(std::string_view kind);

}  // namespace nearwarp::config
