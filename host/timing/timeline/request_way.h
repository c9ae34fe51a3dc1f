// The way of a request through the machine, from channel to channel and through a DRAM bank.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/timing/run/replay.h"
#include "host/timing/timeline/trace_writer.h"

namespace nearwarp::timeline {

/// The stay of a packet in a channel.
struct Hop {
  uint16_t from = 0, to = 0;
  Tick sent = 0, arrives = 0;
  bool reply = false;
};

/// The stay of a request in a vault's queue, until its read or write command.
struct BankAccess {
  uint16_t vault = 0;
  uint8_t bank = 0, opened = 0;  ///< VaultEntry::opened
  Tick command = 0;              ///< tick of the command, or of the last look while it waits
  bool waits = true;             ///< the command has not been seen yet
};

/// A request for a line, and its way there and back.
struct RequestWay {
  uint16_t end = 0;  ///< endpoint of the SM that sent it
  uint32_t tag = 0, line = 0, pc = 0, kernel = 0;
  Tick begin = 0, finish = 0;
  bool joined = false;  ///< another warp of its SM had asked for it
  std::string who;      ///< kernel and line, such as "kmeans_assign:37", as far as they are known
  std::vector<Hop> hops;
  std::vector<BankAccess> accesses;
};

/// A part of a way. Stages follow one another without gaps.
struct Stage {
  Tick begin = 0, end = 0;
  std::string what;
};
std::vector<Stage> stages_of(const RequestWay& way, const std::vector<std::string>& names);

/// Does an MSHR of an L1 still wait for `line`? The cache may have forgotten it meanwhile, as when
/// it was invalidated.
template <class L1>
bool waits_for(const L1& l1, std::byte* base, uint32_t mshr, uint32_t line) {
  const uint64_t free = mshr < 64 ? l1.mshr_free : l1.mshr_free_more[mshr / 64 - 1];
  const uint32_t now = l1.mshr_line.in(base)[mshr];
  return (free >> mshr % 64 & 1) == 0 && (now == line || now == kNoLine);
}

/// State that is shared by everything that follows requests in one run.
class RequestTracks {
 public:
  void begin(sim::Replay& run);

  /// The shortest time, in ticks, that a packet is in a channel.
  Tick step() const { return step_; }
  uint32_t core_period() const { return core_period_; }
  uint64_t cycle(Tick tick) const { return tick / core_period_; }
  const std::vector<std::string>& names() const { return names_; }

  /// Call f(channel, packet, arrival) for every packet of memory that is in a channel.
  template <class F>
  void each_packet(sim::System& system, F&& f) const {
    std::byte* base = system.arena.base();
    for (const sim::ChannelInfo& info : system.channels) {
      const Channel& c = *system.arena.get(info.channel);
      if (c.producer_side.packets == c.consumer_side.packets) continue;
      const Slot* slots = c.slots.in(base);
      for (uint32_t i = 0; i < c.slots.count; ++i)
        if (slots[i].arrive != kNever && class_of(slots[i].packet.kind) != MessageClass::kControl)
          f(c, slots[i].packet, slots[i].arrive);
    }
  }
  /// Add a hop if it is not known yet. Returns whether it was new.
  static bool add_hop(RequestWay& way, const Channel& c, const Packet& packet, Tick at,
                      Tick arrives);
  /// Note the state of the request in the vault's queue, if it has arrived at a vault.
  void look_at_bank(sim::System& system, RequestWay& way, Tick at) const;

  /// The source line of an instruction, or its PTX line; "?" if neither is known.
  std::string place_of(uint32_t kernel, uint32_t pc) const;
  /// The device address of a line, under the page tables as they are now.
  uint64_t address_of(sim::System& system, uint32_t line);
  /// The physical line of a device address.
  uint32_t line_of(sim::System& system, uint64_t address) const;
  uint64_t line_bytes() const { return grid_.line_bytes(); }

  /// A line of text for each stage of the way, with its cycles, and a last one with their sum.
  std::string text_of(const RequestWay& way) const;
  /// Write the way and its stages as spans of a thread.
  void write(TraceWriter& out, uint32_t pid, uint32_t thread, std::string_view name,
             const RequestWay& way) const;

 private:
  uint32_t translated(sim::System& system, uint32_t space, uint32_t line) const;

  uint32_t core_period_ = 1;
  Tick step_ = 1;
  LineGrid grid_;
  std::vector<std::string> names_;                              ///< by endpoint
  std::map<std::pair<uint32_t, uint32_t>, std::string> lines_;  ///< by kernel and pc
};

}  // namespace nearwarp::timeline
