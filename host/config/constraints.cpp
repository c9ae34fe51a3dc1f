// Timing constraints between DRAM commands: parses and checks the rows that list them in the file
// of a DRAM standard or a machine, e.g. "bank: ACT > RD WR = tRCD".
#include "host/config/constraints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

#include "host/config/dram_clock.h"
#include "host/config/error_at.h"
#include "host/config/nearest.h"
#include "host/config/overrides.h"
#include "host/config/refresh_interval.h"
#include "host/config/schema.h"
#include "host/core/error.h"

namespace nearwarp::config {
namespace {

using Words = std::vector<std::string>;

const Words kCommands = {"ACT", "PRE", "RD", "WR", "REF", "WR-data"};
const Words kScopes = {"channel",   "pseudo-channel", "rank", "bank-group",
                       "same-bank", "bank-pair",      "bank", "other-rank"};
constexpr std::string_view kExample = "write it as in \"bank: ACT > RD WR = tRCD\"";
/// Activations that a window counts (tFAW's four); a row may name no other number.
constexpr uint64_t kWindowActivations = 4;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

Words words_of(std::string_view text) {
  Words words;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

std::optional<int64_t> number_of(std::string_view word) {
  if (word.empty() || word.size() > 9) return std::nullopt;
  int64_t number = 0;
  for (const char c : word) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

/// A row as it is written: its distance is an expression that is not evaluated yet.
struct Row {
  DramScope scope = DramScope::kChannel;
  bool others = false, window = false;
  std::vector<DramCommand> from, to;
  Words distance;
};

/// A named timing, such as tRCD. `given` is false if it is optional and the configuration lacks it.
struct Timing {
  int64_t cycles = 0;
  bool given = true;
};

/// Reads the rows of one configuration, and checks each of them and all of them together.
class ConstraintReader {
 public:
  using TimingOf = std::function<std::optional<Timing>(const std::string& name)>;

  ConstraintReader(std::string key, const Words& texts, const DramParts& parts,
                   const PlaceOf& place_of)
      : key_(std::move(key)), texts_(texts), parts_(parts), place_of_(place_of) {}

  std::vector<Constraint> read(const TimingOf& timing_of, const Words& names) {
    std::vector<Row> rows;
    for (at_ = 0; at_ < texts_.size(); ++at_) rows.push_back(parse_row());
    std::vector<Constraint> all;
    for (at_ = 0; at_ < rows.size(); ++at_) add(rows[at_], 0, all);
    require_all(all);
    const uint32_t refreshes = refreshes_of_all(refresh_scope(all), parts_);
    all.clear();
    for (at_ = 0; at_ < rows.size(); ++at_) {
      const Row& r = rows[at_];
      const uint32_t cycles = cycles_of(r, refreshes, timing_of, names);
      const auto none = [&] {
        return value_of(r.distance[0], refreshes, timing_of, names) == 0 &&
               std::none_of(r.distance.begin(), r.distance.end(), [&](const auto& word) {
                 const auto timing = timing_of(word);
                 return timing && timing->cycles != 0;
               });
      };
      if (cycles == 0 && r.scope == DramScope::kChannel &&
          is(r, DramCommand::kRefresh, DramCommand::kRefresh) && !none())
        fail("is 0 cycles", "refreshes are one apart at least; there are none if tREFI is 0");
      add(r, cycles, all);
    }
    check_windows(all);
    check_refresh(all, refreshes);
    check_interval(all, refreshes, timing_of);
    return all;
  }

 private:
  [[noreturn]] void fail(const std::string& wrong, const std::string& right) const {
    const std::string whole = place_of_(key_);
    throw ErrorWithParts<>(at_place(fmt::format("row \"{}\" of {} {}", texts_[at_], key_, wrong),
                                    is_change(whole) ? whole : place_of_(element_of(key_, at_)),
                                    right));
  }

  /// suggestion() without its leading dash, since fail() adds one.
  static std::string near(const std::string& word, const Words& words) {
    return suggestion(word, words).substr(3);
  }

  Row parse_row() const {
    const std::string_view text = texts_[at_];
    const size_t colon = text.find(':'), arrow = text.find('>'), equals = text.find('=');
    if (colon == std::string_view::npos || arrow == std::string_view::npos ||
        equals == std::string_view::npos || colon > arrow || arrow > equals)
      fail("is no SCOPE: COMMANDS > COMMANDS = CYCLES", std::string(kExample));
    Row r;
    const std::string scope(trimmed(text.substr(0, colon)));
    const auto found = std::find(kScopes.begin(), kScopes.end(), scope);
    if (found == kScopes.end()) fail(fmt::format("has no scope '{}'", scope), near(scope, kScopes));
    r.others = scope == "other-rank";
    r.scope = r.others ? DramScope::kRank : static_cast<DramScope>(found - kScopes.begin());
    Words from = words_of(text.substr(colon + 1, arrow - colon - 1));
    if (!from.empty() && number_of(from[0])) {
      r.window = true;
      if (number_of(from[0]) != kWindowActivations || from.size() != 2 || from[1] != "ACT")
        fail("counts something else than four activations", "a window is \"4 ACT > ACT\"");
      from.erase(from.begin());
    }
    r.from = commands(from);
    r.to = commands(words_of(text.substr(arrow + 1, equals - arrow - 1)));
    r.distance = words_of(text.substr(equals + 1));
    check_row(r);
    return r;
  }

  std::vector<DramCommand> commands(const Words& words) const {
    if (words.empty()) fail("lacks a command", std::string(kExample));
    std::vector<DramCommand> all;
    for (const std::string& word : words) {
      const auto found = std::find(kCommands.begin(), kCommands.end(), word);
      if (found == kCommands.end())
        fail(fmt::format("has no command '{}'", word), near(word, kCommands));
      all.push_back(static_cast<DramCommand>(found - kCommands.begin()));
    }
    return all;
  }

  static bool is(const Row& r, DramCommand from, DramCommand to) {
    return r.from == std::vector{from} && r.to == std::vector{to};
  }

  static bool has(const std::vector<DramCommand>& all, DramCommand command) {
    return std::find(all.begin(), all.end(), command) != all.end();
  }

  void check_row(const Row& r) const {
    if (has(r.to, DramCommand::kWriteData))
      fail("waits for WR-data, which is no command",
           "WR-data, the end of a write's data, stands before the >");
    if (r.window && !is(r, DramCommand::kActivate, DramCommand::kActivate))
      fail("has a window of something else than activations", "a window is \"4 ACT > ACT\"");
    if ((r.scope == DramScope::kSameBank || r.scope == DramScope::kBankPair) &&
        !is(r, DramCommand::kRefresh, DramCommand::kActivate))
      fail("has a scope that is of refreshes alone",
           "same-bank and bank-pair say which banks REF > ACT takes");
    if (r.scope == DramScope::kChannel && has(r.from, DramCommand::kRefresh) &&
        has(r.to, DramCommand::kRefresh) && !is(r, DramCommand::kRefresh, DramCommand::kRefresh))
      fail("has the interval of refreshes among distances",
           "\"channel: REF > REF\" is a row of its own; a distance of refreshes is of a rank or "
           "pseudo-channel");
    if (r.window && r.scope == DramScope::kBank)
      fail("has a window of a bank's activations",
           "a row \"bank: ACT > ACT\" holds those apart; windows are of bank groups or larger "
           "parts");
    if (r.others && (r.window || has(r.to, DramCommand::kRefresh)))
      fail("cannot hold in other ranks", "it may in rank, pseudo-channel or channel");
  }

  uint32_t cycles_of(const Row& r, uint32_t refreshes, const TimingOf& timing_of,
                     const Words& names) const {
    const Words& words = r.distance;
    if (words.empty()) fail("has no distance", std::string(kExample));
    int64_t sum = 0, term = 0, sign = 1;
    for (size_t i = 0; i < words.size(); i += 2) {
      const std::string op = i == 0 ? "+" : words[i - 1];
      const int64_t value = value_of(words[i], refreshes, timing_of, names);
      if (op == "/") {
        if (value == 0) fail("divides by 0", "leave it out");
        term /= value;
      } else if (op == "+" || op == "-") {
        sum += sign * term;
        sign = op == "-" ? -1 : 1;
        term = value;
      } else {
        fail(fmt::format("has '{}' between its terms", op), "there are +, - and /");
      }
    }
    sum += sign * term;
    if (words.size() % 2 == 0) fail("ends in the midst", std::string(kExample));
    if (sum < 0 || sum > 1'000'000)
      fail(fmt::format("is {} cycles", sum), "it must be 0 to 1000000");
    return static_cast<uint32_t>(sum);
  }

  int64_t value_of(const std::string& word, uint32_t refreshes, const TimingOf& timing_of,
                   const Words& names) const {
    if (const auto number = number_of(word)) return *number;
    if (word == "parts") return refreshes;
    const std::optional<Timing> timing = timing_of(word);
    if (!timing) fail(fmt::format("has no timing '{}'", word), near(word, names));
    if (!timing->given)
      fail(fmt::format("wants {}, which is not given", word),
           fmt::format("give {}, or leave the row out", word));
    return timing->cycles;
  }

  void add(const Row& r, uint32_t cycles, std::vector<Constraint>& all) const {
    for (const DramCommand from : r.from)
      for (const DramCommand to : r.to)
        all.push_back({r.scope, from, to, r.window, r.others, cycles, static_cast<uint32_t>(at_)});
  }

  /// Every table needs a row for each of these pairs of commands.
  void require_all(const std::vector<Constraint>& all) const {
    using enum DramCommand;
    constexpr std::pair<DramCommand, DramCommand> kPairs[] = {
        {kActivate, kRead},      {kActivate, kWrite}, {kActivate, kPrecharge},
        {kPrecharge, kActivate}, {kRead, kPrecharge}, {kWriteData, kPrecharge},
        {kRefresh, kActivate},   {kRefresh, kRefresh}};
    for (const auto& [from, to] : kPairs) {
      const bool there = std::any_of(all.begin(), all.end(), [&](const Constraint& c) {
        if (to == kRefresh) return is_interval(c);
        return c.from == from && c.to == to && !c.others &&
               (from == kRefresh || c.scope == DramScope::kBank);
      });
      if (there) continue;
      const bool interval = to == kRefresh;
      throw Error(fmt::format(
          "{} has no row of a {} from {} to {} ({}) - {}", key_, interval ? "channel" : "bank",
          kCommands[static_cast<size_t>(from)], kCommands[static_cast<size_t>(to)], place_of_(key_),
          interval           ? "\"channel: REF > REF = tREFI\" is the interval of refreshes"
          : from == kRefresh ? "\"rank: REF > ACT = tRFC\" says what a refresh takes"
                             : std::string("every table needs one: ") + std::string(kExample)));
    }
  }

  /// A vault counts windows of activations in the whole channel, and in one kind of its parts.
  void check_windows(const std::vector<Constraint>& all) {
    std::optional<DramScope> counted;
    for (const Constraint& c : all) {
      const DramScope scope = scope_in(parts_, c.scope);
      if (!c.window || c.cycles == 0 || scope == DramScope::kChannel) continue;
      if (scope == DramScope::kBankGroup && parts_.bank_groups == 1) continue;
      at_ = c.row;
      if (counted && *counted != scope)
        fail("is a second window in parts of a channel",
             "one may be of the channel and one of its parts: leave one out");
      counted = scope;
      const uint32_t windows = refreshes_of_all(scope, parts_);
      if (windows > kMostWindows)
        fail(fmt::format("counts activations in {} parts", windows),
             fmt::format("at most {} can be: count them in a rank", kMostWindows));
    }
  }

  /// A refresh of all banks may have no constraint but its interval and its length, since all banks
  /// are closed together before it.
  void check_refresh(const std::vector<Constraint>& all, uint32_t refreshes) {
    const DramScope scope = refresh_scope(all);
    for (const Constraint& c : all) {
      const bool length = is_refresh(c, scope);
      at_ = c.row;
      if ((c.scope == DramScope::kSameBank || c.scope == DramScope::kBankPair) && !length)
        fail("says a second time which banks a refresh takes",
             fmt::format("a row \"{}: REF > ACT\" does already: leave one out",
                         kScopes[static_cast<size_t>(scope)]));
      if (refreshes > 1 || length || is_interval(c) || (c.others && parts_.ranks == 1)) continue;
      if (c.to == DramCommand::kRefresh || c.from == DramCommand::kRefresh)
        fail("bounds a refresh of all banks",
             "leave it out: they are closed together, tRP and tRC are kept, and nothing else "
             "issues meanwhile");
    }
  }

  /// The interval of refreshes must leave time for accesses, since refreshes have priority.
  void check_interval(const std::vector<Constraint>& all, uint32_t refreshes,
                      const TimingOf& timing_of) {
    uint32_t interval = 0;
    for (const Constraint& c : all)
      if (is_interval(c) && c.cycles > interval) {
        interval = c.cycles;
        at_ = c.row;
      }
    const auto cycles = [&](const char* name) {
      return static_cast<uint64_t>(timing_of(name)->cycles);
    };
    const RefreshTimes times =
        refresh_times(all, parts_, cycles("tCL") + cycles("tBL"), cycles("tCWL") + cycles("tBL"));
    if (interval == 0 || interval >= times.least_interval) return;
    const std::string one = fmt::format("takes {} cycles", times.takes);
    fail(fmt::format("is {} cycles", interval),
         fmt::format("it must be {} or more, so that accesses go on between refreshes: {}",
                     times.least_interval,
                     refreshes == 1 ? "one " + one
                                    : fmt::format("{} are one of all banks, each {} of its banks",
                                                  refreshes, one)));
  }

  std::string key_;
  const Words& texts_;
  DramParts parts_;
  const PlaceOf& place_of_;
  size_t at_ = 0;  ///< index of the row that is read or checked, for messages
};

template <class Config>
std::optional<Timing> timing_in(const Config& config, const std::string& path) {
  const Key<Config>* key = find_key<Config>(path);
  if (key == nullptr || !key->in_ns) return std::nullopt;
  const uint32_t cycles = *std::get<uint32_t*>(member_of(*key, config));
  return Timing{cycles, cycles != 0 || !key->optional};
}

template <class Config>
Words timing_names(std::string_view section) {
  Words names = {"tBL", "parts"};
  for (const Key<Config>& key : keys<Config>())
    if (key.in_ns) names.emplace_back(key.path.substr(section.size()));
  return names;
}

std::vector<Constraint> read(const DramConfig& dram, const PlaceOf& place_of) {
  const auto timing_of = [&](const std::string& name) -> std::optional<Timing> {
    if (name == "tBL") return Timing{burst_cycles(dram)};
    return timing_in(dram, "timing." + name);
  };
  return ConstraintReader("timing.constraints", dram.timing.constraints, parts_of(dram), place_of)
      .read(timing_of, timing_names<DramConfig>("timing."));
}

/// A machine's keys are tRRD, tCCD and tWTR where files of standards say tRRD_S, tCCD_S and tWTR_S.
std::vector<Constraint> read(const MachineConfig& machine, uint32_t burst,
                             const PlaceOf& place_of) {
  const auto timing_of = [&](const std::string& name) -> std::optional<Timing> {
    if (name == "tBL") return Timing{burst};
    const auto timing = timing_in(machine, "dram." + name);
    if (timing || !name.ends_with("_S")) return timing;
    return timing_in(machine, "dram." + name.substr(0, name.size() - 2));
  };
  return ConstraintReader("dram.constraints", machine.dram.constraints, parts_of(machine), place_of)
      .read(timing_of, timing_names<MachineConfig>("dram."));
}

}  // namespace

std::vector<Constraint> constraints_of(const DramConfig& dram) {
  return read(dram, [&](std::string_view) { return dram.path; });
}
std::vector<Constraint> constraints_of(const MachineConfig& machine, uint32_t burst) {
  return read(machine, burst, [&](std::string_view) { return machine.path; });
}
uint32_t refreshes_of_all(const DramConfig& dram) {
  return refreshes_of_all(refresh_scope(constraints_of(dram)), parts_of(dram));
}
uint32_t refreshes_of_all(const MachineConfig& machine) {
  return refreshes_of_all(refresh_scope(constraints_of(machine, 1)), parts_of(machine));
}
void check_constraints(const DramConfig& dram, const PlaceOf& place_of) { read(dram, place_of); }
void check_constraints(const MachineConfig& machine, const PlaceOf& place_of) {
  read(machine, 1, place_of);
}

}  // namespace nearwarp::config
