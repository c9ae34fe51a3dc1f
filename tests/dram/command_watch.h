// A vault that is stepped cycle by cycle; the commands that it has issued are derived from its
// state.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "device/core/arena.h"
#include "device/core/make_channel.h"
#include "device/dram/vault.h"
#include "host/config/config.h"
#include "host/config/constraints.h"
#include "host/timing/dram/channel_run.h"

namespace nearwarp::dram {

/// A command to a bank. A refresh is one Issued for each of its banks.
struct Issued {
  config::DramCommand command;
  uint32_t bank;
  uint64_t cycle;
  bool by_itself = false;  ///< a precharge that came with a column command (auto-precharge)
};

class CommandWatch {
 public:
  explicit CommandWatch(const config::DramConfig& d, uint32_t rebase_cycles = 1u << 30)
      : params_(vault_params(d)), banks_(config::parts_of(d).banks() * d.organisation.row_buffers) {
    params_.rebase_cycles = rebase_cycles;
    in_ = make_channel(arena_, {.slots = 64});
    out_ = make_channel(arena_, {.slots = 64});
    const VaultState s =
        make_vault(arena_, params_, config::parts_of(d).banks(),
                   d.controller.read_entries + d.controller.write_entries, in_, out_);
    state_ = arena_.allocate<VaultState>(1);
    *arena_.get(state_) = s;
  }

  const VaultParams& params() const { return params_; }
  VaultState& state() { return *arena_.get(state_); }
  /// The first line of a bank's row.
  LineAddr line(uint32_t bank, uint32_t row) const {
    return params_.channel_map.line_of(bank >> params_.row_buffer_bits, row);
  }

  /// Send a request that is taken in in `cycle`, 1 or later. Returns false if there is no room.
  bool push(LineAddr line, bool write, uint64_t cycle) {
    Channel& in = *arena_.get(in_);
    const Tick now = cycle * params_.period - 1;
    if (!can_send(in, arena_.base(), now)) return false;
    Packet q;
    q.kind = write ? PacketKind::kWrite : PacketKind::kRead;
    q.line = line;
    q.sectors = 1;
    Horizon ignored;
    send(in, arena_.base(), now, q, ignored);
    return true;
  }

  /// Step a cycle, and return its commands. While its queue is empty, a vault puts refreshes off
  /// until the cycle of the next request: their number goes into `idle`, and the rows that they
  /// closed are seen in state().
  std::vector<Issued> step(uint64_t cycle, uint64_t& idle) {
    VaultState& s = state();
    const VaultCounters before = s.counters;
    const uint64_t open = s.open_banks, valid = s.valid;
    const uint32_t part = s.refresh_part;
    const std::vector<VaultEntry> entries(arena_.get(s.entries),
                                          arena_.get(s.entries) + s.entries.count);
    Horizon ignored;
    const Tick next = (cycle + 1) * params_.period;
    step_vault(params_, s, arena_.base(), Window{cycle * params_.period, next}, ignored);
    Channel& out = *arena_.get(out_);
    while (has_packet(out, arena_.base(), next)) pop(out, arena_.base(), next, ignored);
    idle = valid == 0 ? s.counters.refreshes - before.refreshes : 0;
    std::vector<Issued> all;
    if (valid == 0) return all;
    const bool refreshed = s.counters.refreshes != before.refreshes;
    uint32_t column_bank = ~0u;
    if (s.counters.read_commands != before.read_commands ||
        s.counters.write_commands != before.write_commands) {
      column_bank = left_of(entries, valid);
      all.push_back({s.counters.read_commands != before.read_commands ? config::DramCommand::kRead
                                                                      : config::DramCommand::kWrite,
                     column_bank, cycle});
    }
    for (uint64_t bits = open & ~s.open_banks; bits != 0; bits &= bits - 1) {
      const uint32_t b = count_trailing_zeros(bits);
      all.push_back({config::DramCommand::kPrecharge, b, cycle, b == column_bank});
    }
    if (refreshed)
      for (uint64_t bits = banks_of(part); bits != 0; bits &= bits - 1)
        all.push_back({config::DramCommand::kRefresh, count_trailing_zeros(bits), cycle});
    for (uint64_t bits = s.open_banks & ~open; bits != 0; bits &= bits - 1)
      all.push_back({config::DramCommand::kActivate, count_trailing_zeros(bits), cycle});
    return all;
  }

  /// The banks that the refresh of a part takes.
  uint64_t banks_of(uint32_t part) const {
    if (params_.refresh.parts <= 1) return low_bits(banks_);
    VaultState s;
    s.refresh_part = part;
    return vault_detail::next_part(params_, s);
  }

 private:
  /// The bank of the request that left the queue in this cycle since it was read or written. There
  /// is one at most; its entry may be in use again at once.
  uint32_t left_of(const std::vector<VaultEntry>& entries, uint64_t valid) {
    uint32_t bank = ~0u;
    for (uint32_t e = 0; e < entries.size(); ++e) {
      const bool was = (valid >> e & 1) != 0, is = (state().valid >> e & 1) != 0;
      const bool replaced =
          was && is && arena_.get(state().entries)[e].arrived != entries[e].arrived;
      if ((was && !is) || replaced) bank = entries[e].bank;
    }
    return bank;
  }

  VaultParams params_;
  uint32_t banks_;
  ArenaBuilder arena_;
  Ref<Channel> in_, out_;
  Ref<VaultState> state_;
};

}  // namespace nearwarp::dram
