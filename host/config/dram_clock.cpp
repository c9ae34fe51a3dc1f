// Converts DRAM timings, given as times or in cycles of some clock, to cycles of the DRAM's clock.
#include "host/config/dram_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "host/config/overrides.h"
#include "host/config/schema.h"
#include "host/core/error.h"

namespace nearwarp::config {
namespace {

constexpr uint64_t kMostOfAUnit = 1'000'000'000;  // the largest number before "ps", "ns" or "us"
constexpr uint64_t kPicosecondsPerMicrosecond = 1'000'000;

/// Keys: the DRAM's clock, the clock of timings in cycles, and the rule if these differ.
struct ClockKeys {
  std::string_view clock, timing, other;
};
constexpr ClockKeys kMachineKeys{"clocks.dram_mhz", "dram.timing_mhz", "dram.other_clock"};
constexpr ClockKeys kDramKeys{"speed.clock_mhz", "timing.clock_mhz", "timing.other_clock"};

template <class Config>
constexpr const ClockKeys& clock_keys() {
  return std::is_same_v<Config, MachineConfig> ? kMachineKeys : kDramKeys;
}

template <class T, class Config>
T& value(Config& config, std::string_view path) {
  return *std::get<T*>(find_key<Config>(path)->member(config));
}

template <class Config>
uint32_t& mhz(Config& config, std::string_view path) {
  return value<uint32_t>(config, path);
}

const std::string& place_of(const Places& places, std::string_view path) {
  static const std::string kNowhere;
  const auto at = places.find(path);
  return at == places.end() ? kNowhere : at->second;
}

bool on_command_line(const Places& places, std::string_view path) {
  return is_change(place_of(places, path));
}

/// Is it the timing of a burst, which takes the same number of cycles of the bus at any clock?
bool is_burst(std::string_view path) { return path.find(".tCCD") != std::string_view::npos; }

uint64_t rounded_up(uint64_t number, uint64_t unit) { return (number + unit - 1) / unit; }

/// Cycles of a clock that a time takes, rounded up. (Picoseconds times megahertz may not fit.)
uint64_t cycles_of(uint64_t ps, uint64_t mhz) {
  return ps / kPicosecondsPerMicrosecond * mhz +
         rounded_up(ps % kPicosecondsPerMicrosecond * mhz, kPicosecondsPerMicrosecond);
}

/// Throws UsageError for a value from the command line, Error for one from a file.
[[noreturn]] void fail(bool command_line, const std::string& text) {
  if (command_line) throw UsageError(text);
  throw Error(text);
}

template <class Config>
[[noreturn]] void refuse(Config& config, const std::vector<std::string_view>& left,
                         const Places& places) {
  const ClockKeys& k = clock_keys<Config>();
  std::string names(left[0]);
  if (left.size() == 2) names += fmt::format(" and {}", left[1]);
  if (left.size() > 2) names += fmt::format(", {} and {} more", left[1], left.size() - 2);
  const bool said = on_command_line(places, k.clock) || on_command_line(places, k.timing) ||
                    mentions_change(place_of(places, left[0]));
  fail(said,
       fmt::format("{} is {} ({}), but {} {} cycles of {} MHz ({}) - {} = \"keep-ns\" keeps their "
                   "durations (cycles follow, rounded up), \"keep-cycles\" keeps the cycles; or "
                   "give them for that clock, in cycles or as in \"13.75 ns\"",
                   k.clock, mhz(config, k.clock), place_of(places, k.clock), names,
                   left.size() == 1 ? "counts" : "count", mhz(config, k.timing),
                   place_of(places, left[0]), k.other));
}

template <class Config>
void store(Config& config, const Key<Config>& key, uint64_t cycles, const Places& places) {
  if (cycles < key.min || cycles > key.max)
    fail(on_command_line(places, key.path) || on_command_line(places, clock_keys<Config>().clock),
         fmt::format("{} is {} cycles of {} MHz ({}) - allowed: {}, in {}", key.path, cycles,
                     mhz(config, clock_keys<Config>().clock), place_of(places, key.path),
                     allowed(key), key.unit));
  *std::get<uint32_t*>(key.member(config)) = static_cast<uint32_t>(cycles);
}

}  // namespace

std::optional<uint64_t> picoseconds(std::string_view text) {
  const uint64_t unit = text.ends_with("ps")   ? 1
                        : text.ends_with("ns") ? 1000
                        : text.ends_with("us") ? kPicosecondsPerMicrosecond
                                               : 0;
  if (unit == 0) return std::nullopt;
  text.remove_suffix(2);
  while (text.ends_with(' ')) text.remove_suffix(1);
  uint64_t whole = 0, part = 0;
  size_t at = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    whole = whole * 10 + static_cast<uint64_t>(text[at] - '0');
    if (whole > kMostOfAUnit) return std::nullopt;
  }
  if (at == 0) return std::nullopt;
  if (at < text.size() && text[at] == '.') {
    const size_t point = at;
    uint64_t place = unit;
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      if (place % 10 != 0) return std::nullopt;  // finer than a picosecond
      place /= 10;
      part += place * static_cast<uint64_t>(text[at] - '0');
    }
    if (at == point + 1) return std::nullopt;
  }
  if (at != text.size()) return std::nullopt;
  return whole * unit + part;
}

template <class Config>
void note_timing_clock(Config& config) {
  const ClockKeys& k = clock_keys<Config>();
  if (mhz(config, k.timing) == 0) mhz(config, k.timing) = mhz(config, k.clock);
}

template <class Config>
void settle_timings(Config& config, const Places& places) {
  const ClockKeys& k = clock_keys<Config>();
  const uint64_t clock = mhz(config, k.clock), of_cycles = mhz(config, k.timing);
  const std::string& other = value<std::string>(config, k.other);
  const bool said = on_command_line(places, k.timing);
  std::vector<std::string_view> left;
  bool rounded = false;
  uint32_t *tRAS = nullptr, *tRP = nullptr, *tRC = nullptr;
  for (const Key<Config>& key : keys<Config>()) {
    if (!key.in_ns) continue;
    uint32_t* const cycles = std::get<uint32_t*>(key.member(config));
    if (key.path.ends_with(".tRAS")) tRAS = cycles;
    if (key.path.ends_with(".tRP")) tRP = cycles;
    if (key.path.ends_with(".tRC")) tRC = cycles;
    const auto time = config.timing_ps.find(key.path);
    if (time != config.timing_ps.end()) {
      store(config, key, cycles_of(time->second, clock), places);
      rounded = true;
      continue;
    }
    // A timing on the command line counts in cycles of the DRAM's clock, unless their clock is
    // given there, too.
    if (clock == of_cycles || *cycles == 0 || (!said && on_command_line(places, key.path)))
      continue;
    if (other == "refuse") {
      left.push_back(key.path);
    } else if (other == "keep-ns" && !is_burst(key.path)) {
      store(config, key, rounded_up(*cycles * clock, of_cycles), places);
      rounded = true;
    }
  }
  if (!left.empty()) refuse(config, left, places);
  // Since each timing is rounded up by itself, tRAS + tRP can exceed tRC by a cycle.
  if (rounded) *tRC = std::max(*tRC, std::min(*tRC + 1, *tRAS + *tRP));
  config.timing_ps.clear();
  mhz(config, k.timing) = static_cast<uint32_t>(clock);
}

template void note_timing_clock(MachineConfig&);
template void note_timing_clock(DramConfig&);
template void settle_timings(MachineConfig&, const Places&);
template void settle_timings(DramConfig&, const Places&);

}  // namespace nearwarp::config
