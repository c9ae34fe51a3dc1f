// DRAM timings in nanoseconds or in cycles of one clock, on another.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace nearwarp::config {

/// Where each key got its value: "file:line" or "--set key=value".
using Places = std::map<std::string, std::string, std::less<>>;
/// The name under which the place of a list's element is.
inline std::string element_of(std::string_view key, size_t index) {
  return std::string(key) + "[" + std::to_string(index) + "]";
}

/// A time as in "13.75 ns" or "3.9us", in picoseconds; nothing if the text is none.
std::optional<uint64_t> picoseconds(std::string_view text);

/// Has the file say for which clock its timings in cycles hold, if it does not say so itself: for
/// that which it names. Called before anything is overridden.
template <class Config>
void note_timing_clock(Config& config);

/// Timings in cycles of the clock that the configuration has now (MachineConfig, DramConfig): those
/// in nanoseconds rounded up, those in cycles of another clock as `other_clock` says. Throws where
/// the clock is another and nothing says what becomes of them, and where one gets out of its range.
template <class Config>
void settle_timings(Config& config, const Places& places);

}  // namespace nearwarp::config
