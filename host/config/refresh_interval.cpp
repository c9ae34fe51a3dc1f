// Bounds the interval of refreshes from below, by the longest constraints of each kind.
#include "host/config/refresh_interval.h"

#include <algorithm>

namespace nearwarp::config {
namespace {

void raise(uint64_t& longest, uint64_t cycles) { longest = std::max(longest, cycles); }

/// The longest constraints, in cycles, by the kind of the later command.
struct Longest {
  uint64_t activate = 0, precharge = 0, column = 0, refresh = 0;
  uint64_t closing = 0;     ///< from a precharge to an activation
  uint64_t precharges = 1;  ///< from a precharge to the next; at least one, since they share a bus
  uint64_t takes = 0;       ///< from a refresh to an activation of its banks
  uint64_t others = 0;      ///< from a refresh to other commands

  void add(const Constraint& c, uint64_t cycles, DramScope refreshed) {
    using enum DramCommand;
    if (is_interval(c)) return;
    if (c.from == kRefresh) return raise(is_refresh(c, refreshed) ? takes : others, cycles);
    if (c.from == kPrecharge && c.to == kActivate) raise(closing, cycles);
    if (c.from == kPrecharge && c.to == kPrecharge) raise(precharges, cycles);
    raise(c.to == kActivate    ? activate
          : c.to == kPrecharge ? precharge
          : c.to == kRefresh   ? refresh
                               : column,
          cycles);
  }
};

}  // namespace

RefreshTimes refresh_times(const std::vector<Constraint>& all, const DramParts& parts,
                           uint64_t read_cycles, uint64_t write_cycles) {
  const DramScope refreshed = refresh_scope(all);
  const uint64_t refreshes = refreshes_of_all(refreshed, parts);
  Longest longest;
  for (const Constraint& c : all)
    longest.add(c, c.cycles + (c.from == DramCommand::kWriteData ? write_cycles : 0), refreshed);
  longest.column = std::max({longest.column, read_cycles, write_cycles});  // data bus
  // A refresh of all banks needs one precharge command, one of some banks a command for each.
  const uint64_t banks = parts.banks() * parts.row_buffers / refreshes;
  const uint64_t close = refreshes == 1 ? 1 : banks * longest.precharges;
  // The time from a due refresh until its banks have read or written: they are closed, refreshed
  // and opened. The refresh, the activation and the access each take a cycle of the command bus.
  constexpr uint64_t kCommands = 3;
  uint64_t round =
      std::max({longest.precharge + longest.closing, longest.activate, longest.refresh}) + close +
      std::max(longest.takes, longest.activate) + longest.column + kCommands;
  // The refresh of other banks may delay both the activation and the access.
  if (refreshes > 1) round += 2 * (longest.others + close + 1);
  RefreshTimes times;
  times.takes = longest.takes;
  times.least_interval = round / refreshes + 1;
  if (refreshes > 1)
    times.least_interval =
        std::max(times.least_interval, longest.others + longest.refresh + close + kCommands);
  return times;
}

}  // namespace nearwarp::config
