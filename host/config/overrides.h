// Overrides: "key=value" texts, as --set has them.
#pragma once

#include <string>
#include <string_view>

#include "host/config/config.h"
#include "host/config/dram_clock.h"
#include "host/config/require.h"

namespace nearwarp::config {

struct Override {
  std::string_view key, value;
};
/// Throws UsageError for a text that sets nothing.
Override split_override(std::string_view text);
/// The text without quotation marks around it.
std::string_view unquoted(std::string_view text);

/// Apply an override if it names a key of Config; returns whether it does. What is wrong with the
/// text is a mistake on the command line: throws UsageError. `places`: null, or where keys were
/// written.
template <class Config>
bool override_key(Config& config, std::string_view text, Places* places);

/// Applies an override that must name a key of this very configuration: there is no other kind of
/// file beside it.
template <class Config>
void override_own(Config& config, std::string_view text, Places& places);

}  // namespace nearwarp::config
