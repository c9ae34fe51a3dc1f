// Overrides: "key=value" texts, as users set keys.
#pragma once

#include <string>
#include <string_view>

#include "host/config/config.h"
#include "host/config/dram_clock.h"
#include "host/config/require.h"

namespace nearwarp::config {

/// In place of a file and line: a key was set so by an argument.
std::string place_of_change(std::string_view text);
/// Is this place such a one, or does it end with one?
bool is_change(std::string_view place);
bool mentions_change(std::string_view place);

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
