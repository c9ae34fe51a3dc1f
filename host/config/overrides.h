// Overrides: texts "key=value" by which users set keys.
#pragma once

#include <string>
#include <string_view>

#include "host/config/config.h"
#include "host/config/dram_clock.h"
#include "host/config/require.h"

namespace nearwarp::config {

/// The place (see Places) of a key that the override `text` has set.
std::string place_of_change(std::string_view text);
/// Is `place` that of an override, or does it contain one?
bool is_change(std::string_view place);
bool mentions_change(std::string_view place);

struct Override {
  std::string_view key, value;
};
/// Splits a text at its first '='. Throws UsageError if there is none, or no key before it.
Override split_override(std::string_view text);
/// The text without quotation marks around it.
std::string_view unquoted(std::string_view text);

/// Apply an override if it names a key of Config; returns whether it does. The key's place is
/// stored in `places`, which may be null. Throws UsageError for a wrong value, and for a key of no
/// kind of file.
template <class Config>
bool override_key(Config& config, std::string_view text, Places* places);

/// Applies an override that must name a key of Config. Throws UsageError for other keys.
template <class Config>
void override_own(Config& config, std::string_view text, Places& places);

}  // namespace nearwarp::config
