// Reads the text of a configuration file into its structure, strictly.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "host/config/dram_clock.h"
#include "host/config/policy.h"
#include "host/config/require.h"

namespace nearwarp::config {

/// Throws nearwarp::Error if a key is missing that the configuration must have. `places` has the
/// keys that were set.
template <class Config>
void require_keys(const Config& config, const Places& places);

/// Reads a text. `file` is its path in messages, and `name` becomes the configuration's name.
/// `standard` is the DRAM standard of a machine's vaults; empty: the one that the text names. A
/// policy may lack keys, since overrides may still change its mechanisms. Throws nearwarp::Error.
template <class Config>
Config read_text(const std::string& text, const std::string& file, const std::string& name,
                 Places& places, std::string_view standard = {});

/// Reads a file as read_text() reads its text.
template <class Config>
Config read_file(const std::string& path, Places& places, std::string_view standard = {});

}  // namespace nearwarp::config
