// Does any command ever come too early, in any standard, under any policy?
//
// The vault is stepped cycle by cycle. What it issued is held against the standard's rows by a
// checker that knows all earlier commands and nothing of the model.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "tests/dram/command_watch.h"

namespace nearwarp::dram {
namespace {

using Words = std::vector<std::string>;
using config::Constraint;
using config::DramCommand;
using config::DramScope;

/// The standard's rows over the history of commands; times in cycles.
class Oracle {
 public:
  explicit Oracle(const config::DramConfig& d)
      : d_(d),
        rows_(config::constraints_of(d)),
        burst_(config::burst_cycles(d)),
        buffers_(d.organisation.row_buffers),
        per_group_(d.organisation.banks_per_group * buffers_),
        per_rank_(per_group_ * d.organisation.bank_groups),
        per_pseudo_channel_(per_rank_ * d.organisation.ranks),
        open_(per_pseudo_channel_ * d.organisation.pseudo_channels, false),
        all_at_once_(config::refreshes_of_all(config::refresh_scope(rows_), config::parts_of(d)) ==
                     1) {
    for (uint32_t scope = 0; scope < kScopes; ++scope) last_[scope].resize(open_.size());
  }

  void issue(const Issued& i) { issue(std::vector{i}); }
  /// Commands of one kind in one cycle are one command to several banks.
  void issue(const std::vector<Issued>& all) {
    std::vector<uint64_t> cycles;
    for (const Issued& i : all) {
      const bool wants_open =
          i.command != DramCommand::kActivate && i.command != DramCommand::kRefresh;
      const auto [cycle, row] = earliest(i.command, i.bank, i.by_itself);
      cycles.push_back(i.by_itself ? cycle : i.cycle);
      if (open_[i.bank] != wants_open) violate("open or closed", i.bank, cycles.back());
      if (cycles.back() < cycle) violate(name_of(row), i.bank, cycles.back());
    }
    for (size_t n = 0; n < all.size(); ++n) note(all[n], cycles[n]);
    commands += all.size();
  }
  /// Closes the open ones of `banks` one after the other, from cycle `due` on.
  void close_in_turn(uint64_t banks, uint64_t due) {
    while (true) {
      uint32_t next = ~0u;
      uint64_t at = 0;
      for (uint32_t b = 0; b < open_.size(); ++b) {
        if ((banks >> b & 1) == 0 || !open_[b]) continue;
        const uint64_t cycle =
            std::max({due, closed_by_, earliest(DramCommand::kPrecharge, b).first});
        if (next != ~0u && cycle >= at) continue;
        next = b;
        at = cycle;
      }
      if (next == ~0u) return;
      issue(Issued{DramCommand::kPrecharge, next, at});
      closed_by_ = at + 1;  // a command a cycle
    }
  }
  /// The refresh of `banks` while nothing waits: from cycle `due` on, as early as they allow. The
  /// model makes up for it when the next request comes.
  void refresh_idle(uint64_t banks, uint64_t due) {
    if (all_at_once_) {
      for (uint32_t b = 0; b < open_.size(); ++b)
        if (open_[b]) due = std::max(due, earliest(DramCommand::kPrecharge, b).first);
      std::vector<Issued> closing;
      for (uint32_t b = 0; b < open_.size(); ++b)
        if (open_[b]) closing.push_back({DramCommand::kPrecharge, b, due});
      issue(closing);
    }
    close_in_turn(banks, due);
    for (uint32_t b = 0; b < open_.size(); ++b)
      if ((banks >> b & 1) != 0) due = std::max(due, earliest(DramCommand::kRefresh, b).first);
    std::vector<Issued> refreshed;
    for (uint32_t b = 0; b < open_.size(); ++b)
      if ((banks >> b & 1) != 0) refreshed.push_back({DramCommand::kRefresh, b, due});
    issue(refreshed);
  }
  /// Where all are refreshed at once, that is as soon as they are closed.
  uint64_t begin_of(const Issued& refresh) const {
    if (!all_at_once_) return refresh.cycle;
    uint64_t begin = refresh.cycle;
    for (uint32_t b = 0; b < open_.size(); ++b)
      begin = std::max(begin, earliest(DramCommand::kRefresh, b).first);
    return begin;
  }
  uint64_t commands = 0;
  std::vector<std::string> violations;

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};
  static constexpr uint32_t kScopes = static_cast<uint32_t>(DramScope::kBank) + 1;
  /// The cycles of the last commands of each kind in a part of a scope.
  struct Last {
    std::array<uint64_t, 6> of{kNone, kNone, kNone, kNone, kNone, kNone};
  };

  uint32_t banks_in(DramScope scope) const {
    switch (scope) {
      case DramScope::kChannel:
        return static_cast<uint32_t>(open_.size());
      case DramScope::kPseudoChannel:
        return per_pseudo_channel_;
      case DramScope::kRank:
        return per_rank_;
      case DramScope::kBankGroup:
        return per_group_;
      default:
        // Refreshes of pairs and of banks alike are noted in each of their banks.
        return 1;
    }
  }
  const Last& last(DramScope scope, uint32_t bank) const {
    return last_[static_cast<size_t>(scope)][bank / banks_in(scope)];
  }

  std::string name_of(size_t row) const {
    return row < d_.timing.constraints.size() ? d_.timing.constraints[row] : "as an activation";
  }

  /// When a command may come by all rows, and the number of the row that is the last to allow it.
  std::pair<uint64_t, size_t> earliest(DramCommand command, uint32_t bank,
                                       bool by_itself = false) const {
    std::pair<uint64_t, size_t> found{0, ~size_t{0}};
    const auto after = [&](uint64_t cycle, uint64_t distance, size_t row) {
      if (cycle != kNone && cycle + distance > found.first) found = {cycle + distance, row};
    };
    for (const Constraint& c : rows_) {
      // The interval of refreshes is no distance.
      if (c.to != command || (c.from == DramCommand::kRefresh && c.to == DramCommand::kRefresh &&
                              c.scope == DramScope::kChannel))
        continue;
      if (by_itself && c.scope != DramScope::kBank) continue;
      // Where there is one group, rows of groups are of no effect.
      if (c.scope == DramScope::kBankGroup && d_.organisation.bank_groups == 1) continue;
      if (c.window) {
        std::vector<uint64_t> recent;
        for (const auto& [b, cycle] : activations_)
          if (b / banks_in(c.scope) == bank / banks_in(c.scope)) recent.push_back(cycle);
        if (recent.size() >= 4) after(recent[recent.size() - 4], c.cycles, c.row);
        continue;
      }
      const auto from = static_cast<size_t>(c.from);
      if (!c.others) after(last(c.scope, bank).of[from], c.cycles, c.row);
      for (uint32_t b = 0; c.others && b < open_.size(); b += per_rank_)
        if (b / per_pseudo_channel_ == bank / per_pseudo_channel_ &&
            b / per_rank_ != bank / per_rank_)
          after(last(c.scope, b).of[from], c.cycles, c.row);
    }
    if (command == DramCommand::kRefresh) {  // as an activation of its bank
      const auto& own = last(DramScope::kBank, bank).of;
      constexpr size_t kOwn = ~size_t{0};
      after(own[static_cast<size_t>(DramCommand::kPrecharge)], d_.timing.tRP, kOwn);
      after(own[static_cast<size_t>(DramCommand::kActivate)], d_.timing.tRC, kOwn);
      if (all_at_once_)
        after(own[static_cast<size_t>(DramCommand::kRefresh)], d_.timing.tRFC, kOwn);
    }
    return found;
  }
  void note(const Issued& i, uint64_t now) {
    const auto set = [&](DramCommand command, uint64_t cycle) {
      for (uint32_t scope = 0; scope < kScopes; ++scope) {
        // A row that closes by itself is no command: only its bank feels it.
        if (i.by_itself && scope != static_cast<uint32_t>(DramScope::kBank)) continue;
        const uint32_t part = i.bank / banks_in(static_cast<DramScope>(scope));
        uint64_t& latest = last_[scope][part].of[static_cast<size_t>(command)];
        latest = latest == kNone ? cycle : std::max(latest, cycle);
      }
    };
    set(i.command, now);
    if (i.command == DramCommand::kWrite)
      set(DramCommand::kWriteData, now + d_.timing.tCWL + burst_);
    if (i.command == DramCommand::kActivate || i.command == DramCommand::kPrecharge)
      open_[i.bank] = i.command == DramCommand::kActivate;
    if (i.command != DramCommand::kActivate) return;
    activations_.emplace_back(i.bank, now);
    if (activations_.size() > 64) activations_.erase(activations_.begin());
  }
  void violate(const std::string& name, uint32_t bank, uint64_t now) {
    if (violations.size() > 10) return;
    violations.push_back(name + ", bank " + std::to_string(bank) + ", cycle " +
                         std::to_string(now));
  }

  const config::DramConfig d_;
  std::vector<Constraint> rows_;
  uint64_t burst_;
  uint32_t buffers_, per_group_, per_rank_, per_pseudo_channel_;
  std::array<std::vector<Last>, kScopes> last_;
  std::vector<bool> open_;
  bool all_at_once_;
  uint64_t closed_by_ = 0;  ///< cycle after the last precharge for a refresh
  std::vector<std::pair<uint32_t, uint64_t>> activations_;
};

/// Mixed accesses over `lines`, in bursts and pauses, for so many cycles, before an oracle that
/// goes by `law`.
Oracle watched(const config::DramConfig& d, const config::DramConfig& law, uint64_t cycles,
               uint64_t lines, uint32_t seed) {
  CommandWatch watch(d);
  Oracle oracle(law);
  std::mt19937_64 random(seed);
  uint64_t line = 0;
  for (uint64_t c = 1; c < cycles; ++c) {
    const bool busy = c / 700 % 3 != 2;
    if (busy && random() % 2 == 0) {
      line = random() % 3 == 0 ? random() % lines : (line + 1) % lines;  // some locality
      watch.push(static_cast<LineAddr>(line), random() % 3 == 0, c);
    }
    uint64_t due = watch.state().refresh_at, idle = 0;
    uint32_t part = watch.state().refresh_part;
    const bool empty = watch.state().valid == 0;
    const std::vector<Issued> issued = watch.step(c, idle);
    for (uint64_t i = 0; i < idle; ++i, due += watch.params().tREFI) {
      oracle.refresh_idle(watch.banks_of(part), due);
      part = (part + 1) % watch.params().refresh.parts;
    }
    // The next part may have been closed, and its refresh be still to come.
    if (empty) oracle.close_in_turn(~watch.state().open_banks, due);
    for (size_t n = 0; n < issued.size();) {
      std::vector<Issued> alike;
      const bool refresh = issued[n].command == DramCommand::kRefresh;
      const uint64_t begin = refresh ? oracle.begin_of(issued[n]) : c;
      for (const DramCommand command = issued[n].command;
           n < issued.size() && issued[n].command == command; ++n) {
        alike.push_back(issued[n]);
        alike.back().cycle = begin;
      }
      oracle.issue(alike);
    }
  }
  return oracle;
}

/// A few rows of every bank, so that hits, misses and conflicts all occur.
uint64_t few_lines(const config::DramConfig& d) {
  return uint64_t{8} * config::parts_of(d).banks() * d.organisation.row_bytes /
         d.organisation.access_bytes;
}

TEST(TimingOracle, NoCommandComesTooEarly) {
  for (const std::string& name : config::dram_names()) {
    for (const char* change : {"controller.scheduler=fr-fcfs", "controller.scheduler=fcfs",
                               "controller.page_policy=closed", "controller.mapping_hash=true",
                               "organisation.row_buffers=2", "controller.starvation_cycles=60"}) {
      SCOPED_TRACE(name + " " + change);
      Words changes{change};
      // At most 64 row buffers.
      if (config::parts_of(config::load_dram(name)).banks() > 32 &&
          changes[0].starts_with("organisation"))
        continue;
      const config::DramConfig d = config::load_dram(name, changes);
      // Rows of newer memories are felt often: parts are refreshed every few hundred cycles.
      const bool customary = d.timing.constraints == config::customary_constraints();
      const uint64_t cycles = customary ? 30'000 : 12'000;
      const Oracle oracle = watched(d, d, cycles, few_lines(d), 5);
      EXPECT_GT(oracle.commands, std::min<uint64_t>(2'000, 3 * cycles / d.timing.tRC));
      EXPECT_EQ(oracle.violations, std::vector<std::string>());
    }
  }
}

TEST(TimingOracle, CommandsComeAsEarlyAsTheyMay) {
  // Against a law that asks for one cycle more, every single constraint is broken somewhere: each
  // of them binds, and the checker notices.
  const config::DramConfig d = config::load_dram("ddr3-1600k");
  for (const std::vector<std::string>& law :
       {Words{"timing.tRCD=12"}, Words{"timing.tRP=12", "timing.tRC=40"}, Words{"timing.tRC=40"},
        Words{"timing.tRAS=29", "timing.tRC=40"}, Words{"timing.tRRD_S=6", "timing.tRRD_L=6"},
        Words{"timing.tFAW=25"}, Words{"timing.tCCD_S=5"}, Words{"timing.tWR=13"},
        Words{"timing.tWTR_S=7"}, Words{"timing.tRTP=7"}, Words{"timing.tRTW=10"},
        Words{"timing.tRFC=209"}, Words{"timing.tCWL=9"}}) {
    const Oracle oracle = watched(d, config::load_dram("ddr3-1600k", law), 60'000, few_lines(d), 5);
    const std::string name = law[0].substr(7, law[0].find_first_of("=_") - 7);
    const auto broken = [&](const std::string& violation) {
      return violation.find("= " + name) != std::string::npos ||
             (name == "tCWL" && violation.find("= tW") != std::string::npos);  // follows writes
    };
    EXPECT_TRUE(std::any_of(oracle.violations.begin(), oracle.violations.end(), broken)) << law[0];
  }
}

TEST(TimingOracle, RowsOfNewerMemoriesBindToo) {
  // Constraints without fields of VaultParams bind, too, and so do windows, data buses and
  // refreshes of parts.
  struct Case {
    std::string standard, law;
    Words both = {};  ///< overrides for the vault and for the law
  };
  for (const Case& c :
       std::vector<Case>{{"hbm3-6400", "timing.tRCDWR=16"},
                         {"hbm3-6400", "timing.tFAW=25"},
                         {"hbm3-6400", "timing.tRTW=21"},
                         {"hbm3-6400", "timing.tCCD_L=5"},
                         {"hbm3-6400", "timing.tRFCpb=321"},
                         {"hbm3-6400", "timing.tRREFD=14"},
                         {"hbm3-6400",
                          "timing.tCCD_R=4",
                          {"organisation.pseudo_channels=1", "organisation.ranks=2"}},
                         {"ddr5-6400a", "timing.tCCD_L_WR=65"},
                         {"ddr5-6400a", "timing.tPPD=3"},
                         {"lpddr5-6400", "timing.tRFCpb=129"},
                         {"gddr7-28000", "timing.tCCDSB=5"},
                         {"gddr7-28000", "timing.tWTRSB=12"}}) {
    Words law = c.both;
    law.push_back(c.law);
    const config::DramConfig d = config::load_dram(c.standard, c.both);
    const Oracle oracle = watched(d, config::load_dram(c.standard, law), 20'000, few_lines(d), 5);
    const std::string name = c.law.substr(7, c.law.find('=') - 7);
    EXPECT_TRUE(std::any_of(
        oracle.violations.begin(), oracle.violations.end(),
        [&](const std::string& v) { return v.find("= " + name + ",") != std::string::npos; }))
        << c.standard << " " << c.law << ": " << oracle.violations.size() << " violations";
  }
}

}  // namespace
}  // namespace nearwarp::dram
