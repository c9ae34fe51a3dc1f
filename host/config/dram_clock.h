// Converts DRAM timings, given as times or in cycles of some clock, to cycles of the DRAM's clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace nearwarp::config {

/// By key, the place that has set its value: "file:line" or "`set` key=value".
using Places = std::map<std::string, std::string, std::less<>>;
/// The name in Places of a list's element.
inline std::string element_of(std::string_view key, size_t index) {
  return std::string(key) + "[" + std::to_string(index) + "]";
}

/// Parses a time such as "13.75 ns" or "3.9us" and returns it in picoseconds; nothing for other
/// texts.
std::optional<uint64_t> picoseconds(std::string_view text);

/// Notes the clock of the file's timings in cycles, if the file does not give one: it is the DRAM's
/// clock in the file. Must be called before overrides are applied.
template <class Config>
void note_timing_clock(Config& config);

/// Converts all timings of a MachineConfig or DramConfig to cycles of its present clock: times are
/// rounded up, and cycles of another clock are converted as `other_clock` says. Throws Error or
/// UsageError if `other_clock` is "refuse" and the clocks differ, or if a timing leaves its range.
template <class Config>
void settle_timings(Config& config, const Places& places);

}  // namespace nearwarp::config
