// Does any command ever come too early, in any standard, under any policy?
//
// The vault is stepped cycle by cycle. What it issued is read off its state, and held against the
// standard's constraints by a checker that knows all earlier commands and nothing of the model.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "device/core/arena.h"
#include "device/core/make_channel.h"
#include "device/dram/vault.h"
#include "host/config/config.h"
#include "host/timing/dram/channel_run.h"

namespace nearwarp::dram {
namespace {

using Words = std::vector<std::string>;
enum class Command { kActivate, kPrecharge, kRead, kWrite };

/// The standard's rules over the history of commands; times in cycles.
class Oracle {
 public:
  explicit Oracle(const config::DramConfig& d)
      : t_(d.timing),
        banks_(d.organisation.bank_groups * d.organisation.banks_per_group *
               d.organisation.row_buffers),
        per_group_(d.organisation.banks_per_group * d.organisation.row_buffers),
        burst_((uint64_t{d.organisation.access_bytes} * d.speed.clock_mhz + d.speed.data_mbps - 1) /
               d.speed.data_mbps),
        state_(banks_) {}

  void issue(Command command, uint32_t bank, uint64_t now) {
    Bank& b = state_[bank];
    switch (command) {
      case Command::kActivate:
        require(!b.open, "closed", bank, now);
        after(b.activate, t_.tRC, now, "tRC", bank);
        after(b.precharge, t_.tRP, now, "tRP", bank);
        after(refresh_, t_.tRFC, now, "tRFC", bank);
        for (uint32_t o = 0; o < banks_; ++o) {
          after(state_[o].activate, same_group(o, bank) ? t_.tRRD_L : t_.tRRD_S, now, "tRRD", bank);
        }
        if (activations_.size() >= 4) {
          after(activations_[activations_.size() - 4], t_.tFAW, now, "tFAW", bank);
        }
        activations_.push_back(now);
        b.open = true;
        b.activate = now;
        break;
      case Command::kPrecharge:
        require(b.open, "open", bank, now);
        after(b.activate, t_.tRAS, now, "tRAS", bank);
        after(b.read, t_.tRTP, now, "tRTP", bank);
        after(b.write, t_.tCWL + burst_ + t_.tWR, now, "tWR", bank);
        b.open = false;
        b.precharge = now;
        break;
      case Command::kRead:
        require(b.open, "open", bank, now);
        after(b.activate, t_.tRCD, now, "tRCD", bank);
        for (uint32_t o = 0; o < banks_; ++o) {
          const bool same = same_group(o, bank);
          after(state_[o].read, same ? t_.tCCD_L : t_.tCCD_S, now, "tCCD", bank);
          after(state_[o].write, t_.tCWL + burst_ + (same ? t_.tWTR_L : t_.tWTR_S), now, "tWTR",
                bank);
        }
        b.read = now;
        break;
      case Command::kWrite:
        require(b.open, "open", bank, now);
        after(b.activate, t_.tRCD, now, "tRCD", bank);
        for (uint32_t o = 0; o < banks_; ++o) {
          after(state_[o].write, same_group(o, bank) ? t_.tCCD_L : t_.tCCD_S, now, "tCCD", bank);
          after(state_[o].read, t_.tRTW, now, "tRTW", bank);
        }
        b.write = now;
        break;
    }
    commands += 1;
  }
  /// All banks are precharged in `now` and then refreshed.
  void refresh(uint64_t now) {
    for (uint32_t b = 0; b < banks_; ++b) {
      if (state_[b].open) issue(Command::kPrecharge, b, now);
    }
    refresh_ = now;
    for (const Bank& b : state_) {
      if (b.precharge != kNone) refresh_ = std::max(refresh_, b.precharge + t_.tRP);
    }
  }
  /// The same without anything to do: from cycle `due` on, as early as the banks allow. The model
  /// makes up for it when the next request comes.
  void refresh_idle(uint64_t due) {
    for (uint32_t b = 0; b < banks_; ++b) {
      if (state_[b].open) due = std::max(due, earliest_precharge(state_[b]));
    }
    refresh(due);
  }
  /// A bank that an access closed by itself, as early as it may.
  void close(uint32_t bank, uint64_t now) {
    require(state_[bank].open, "open", bank, now);
    state_[bank].open = false;
    state_[bank].precharge = earliest_precharge(state_[bank]);
  }
  uint64_t commands = 0;
  std::vector<std::string> violations;

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};
  struct Bank {
    bool open = false;
    uint64_t activate = kNone, precharge = kNone, read = kNone, write = kNone;
  };
  uint64_t earliest_precharge(const Bank& b) const {
    uint64_t when = b.activate + t_.tRAS;
    if (b.read != kNone) when = std::max(when, b.read + t_.tRTP);
    if (b.write != kNone) when = std::max(when, b.write + t_.tCWL + burst_ + t_.tWR);
    return when;
  }
  bool same_group(uint32_t a, uint32_t b) const { return a / per_group_ == b / per_group_; }
  void require(bool holds, const char* name, uint32_t bank, uint64_t now) {
    if (holds || violations.size() > 10) return;
    violations.push_back(std::string(name) + ", bank " + std::to_string(bank) + ", cycle " +
                         std::to_string(now));
  }
  void after(uint64_t earlier, uint64_t distance, uint64_t now, const char* name, uint32_t bank) {
    if (earlier != kNone) require(now >= earlier + distance, name, bank, now);
  }

  config::DramConfig::Timing t_;
  uint32_t banks_, per_group_;
  uint64_t burst_;
  std::vector<Bank> state_;
  std::vector<uint64_t> activations_;
  uint64_t refresh_ = kNone;
};

/// A vault with its two channels, stepped by hand.
class Watched {
 public:
  /// `law` is what the oracle goes by.
  Watched(const config::DramConfig& d, const config::DramConfig& law)
      : params_(vault_params(d)), oracle_(law) {
    in_ = channel();
    out_ = channel();
    const VaultState s =
        make_vault(arena_, params_, d.organisation.bank_groups * d.organisation.banks_per_group,
                   d.controller.read_entries + d.controller.write_entries, in_, out_);
    state_ = arena_.allocate<VaultState>(1);
    *arena_.get(state_) = s;
  }

  /// Mixed accesses over `lines`, in bursts and pauses, for so many cycles.
  const Oracle& run(uint64_t cycles, uint64_t lines, uint32_t seed) {
    std::mt19937_64 random(seed);
    uint64_t line = 0;
    for (uint64_t c = 0; c < cycles; ++c) {
      const bool busy = c / 700 % 3 != 2;
      if (busy && random() % 2 == 0) {
        line = random() % 3 == 0 ? random() % lines : (line + 1) % lines;  // some locality
        push(static_cast<LineAddr>(line), random() % 3 == 0, c);
      }
      step(c);
    }
    return oracle_;
  }

 private:
  Ref<Channel> channel() { return make_channel(arena_, {.slots = 64}); }
  Tick tick(uint64_t cycle) const { return cycle * params_.period; }

  void push(LineAddr line, bool write, uint64_t cycle) {
    Channel& in = *arena_.get(in_);
    const Tick now = tick(cycle) == 0 ? 0 : tick(cycle) - 1;
    if (!can_send(in, arena_.base(), now)) return;
    Packet q;
    q.kind = write ? PacketKind::kWrite : PacketKind::kRead;
    q.line = line;
    q.sectors = 1;
    Horizon ignored;
    send(in, arena_.base(), now, q, ignored);
  }

  void step(uint64_t cycle) {
    VaultState& s = *arena_.get(state_);
    const VaultCounters before = s.counters;
    const uint64_t open = s.open_banks, valid = s.valid, due = s.refresh_at;
    std::vector<VaultEntry> entries(arena_.get(s.entries), arena_.get(s.entries) + s.entries.count);
    Horizon ignored;
    step_vault(params_, s, arena_.base(), Window{tick(cycle), tick(cycle + 1)}, ignored);
    Channel& out = *arena_.get(out_);
    while (has_packet(out, arena_.base(), tick(cycle + 1))) {
      pop(out, arena_.base(), tick(cycle + 1), ignored);
    }
    observe(s, before, open, valid, due, entries, cycle);
  }

  void observe(const VaultState& s, const VaultCounters& before, uint64_t open, uint64_t valid,
               uint64_t due, const std::vector<VaultEntry>& entries, uint64_t cycle) {
    const VaultCounters& n = s.counters;
    // A request that left the queue was read or written (never more than one in a cycle); its slot
    // may be in use again at once.
    const bool read = n.read_commands != before.read_commands;
    const bool write = n.write_commands != before.write_commands;
    uint32_t column_bank = ~0u;
    if (read || write) {
      for (uint32_t e = 0; e < entries.size(); ++e) {
        const bool was = (valid >> e & 1) != 0, is = (s.valid >> e & 1) != 0;
        const bool replaced = was && is && arena_.get(s.entries)[e].order != entries[e].order;
        if ((was && !is) || replaced) column_bank = entries[e].bank;
      }
      ASSERT_NE(column_bank, ~0u);
      oracle_.issue(read ? Command::kRead : Command::kWrite, column_bank, cycle);
    }
    if (n.refreshes != before.refreshes) {
      ASSERT_EQ(n.activates, before.activates);
      if (valid != 0) {
        oracle_.refresh(cycle);
      } else {
        for (uint64_t i = before.refreshes; i < n.refreshes; ++i, due += params_.tREFI) {
          oracle_.refresh_idle(due);
        }
      }
      return;
    }
    for (uint64_t bits = open & ~s.open_banks; bits != 0; bits &= bits - 1) {
      const uint32_t b = count_trailing_zeros(bits);
      if (b == column_bank) {
        oracle_.close(b, cycle);
      } else {
        oracle_.issue(Command::kPrecharge, b, cycle);
      }
    }
    for (uint64_t bits = s.open_banks & ~open; bits != 0; bits &= bits - 1) {
      oracle_.issue(Command::kActivate, count_trailing_zeros(bits), cycle);
    }
  }

  VaultParams params_;
  ArenaBuilder arena_;
  Ref<Channel> in_, out_;
  Ref<VaultState> state_;
  Oracle oracle_;
};

/// A few rows of every bank, so that hits, misses and conflicts all occur.
uint64_t few_lines(const config::DramConfig& d) {
  return uint64_t{8} * d.organisation.bank_groups * d.organisation.banks_per_group *
         d.organisation.row_bytes / d.organisation.access_bytes;
}

TEST(TimingOracle, NoCommandComesTooEarly) {
  for (const std::string& name : config::dram_names()) {
    for (const char* change : {"controller.scheduler=fr-fcfs", "controller.scheduler=fcfs",
                               "controller.page_policy=closed", "controller.mapping_hash=true",
                               "organisation.row_buffers=2", "controller.starvation_cycles=60"}) {
      SCOPED_TRACE(name + " " + change);
      const config::DramConfig d = config::load_dram(name, std::vector<std::string>{change});
      Watched watched(d, d);
      const Oracle& oracle = watched.run(30'000, few_lines(d), 5);
      EXPECT_GT(oracle.commands, 2'000u);
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
        Words{"timing.tFAW=25"}, Words{"timing.tCCD_L=5"}, Words{"timing.tWR=13"},
        Words{"timing.tWTR_L=7"}, Words{"timing.tRTP=7"}, Words{"timing.tRTW=10"},
        Words{"timing.tRFC=209"}, Words{"timing.tCWL=9"}}) {
    Watched watched(d, config::load_dram("ddr3-1600k", law));
    const Oracle& oracle = watched.run(60'000, few_lines(d), 5);
    const std::string name = law[0].substr(7, law[0].find_first_of("=_") - 7);
    const auto broken = [&](const std::string& violation) {
      return violation.starts_with(name + ",") ||
             (name == "tCWL" && violation.starts_with("tW"));  // bounds what follows writes
    };
    EXPECT_TRUE(std::any_of(oracle.violations.begin(), oracle.violations.end(), broken)) << law[0];
  }
}

}  // namespace
}  // namespace nearwarp::dram
