// Reads the text of a configuration file into its structure, strictly.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "host/config/dram_clock.h"
#include "host/config/policy.h"
#include "host/config/require.h"

namespace nearwarp::config {

/// All keys that a configuration has to have are there: `places` says where each was written.
/// Throws nearwarp::Error.
template <class Config>
void require_keys(const Config& config, const Places& places);

/// `file` stands in messages; `name` is the configuration's. `standard`: of a machine's vaults,
/// instead of the one that the text names; empty: that one. A policy's keys are not required yet:
/// overrides may name other mechanisms. Throws nearwarp::Error.
template <class Config>
Config read_text(const std::string& text, const std::string& file, const std::string& name,
                 Places& places, std::string_view standard = {});

/// Reads a file into its structure, as read_text() does a text.
template <class Config>
Config read_file(const std::string& path, Places& places, std::string_view standard = {});

}  // namespace nearwarp::config
