// One request's way through the machine, from channel to channel, and through a bank.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/timing/run/replay.h"
#include "host/timing/timeline/trace_writer.h"

namespace nearwarp::timeline {

/// A packet was in a channel.
struct Hop {
  uint16_t from = 0, to = 0;
  Tick sent = 0, arrives = 0;
  bool reply = false;
};

/// A vault had it in its queue, until the read or write command.
struct BankAccess {
  uint16_t vault = 0;
  uint8_t bank = 0, opened = 0;  ///< VaultEntry::opened
  Tick command = 0;
  bool waits = true;
};

/// A request for a line, and its way there and back.
struct RequestWay {
  uint16_t end = 0;  ///< endpoint that asked
  uint32_t tag = 0, line = 0, pc = 0, kernel = 0;
  Tick begin = 0, finish = 0;
  bool joined = false;  ///< another warp of its SM had asked for it
  std::string who;      ///< "kmeans_assign:37", as far as it is known
  std::vector<Hop> hops;
  std::vector<BankAccess> accesses;
};

/// A part of a way. Stages follow each other without gaps.
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

/// State that all who follow requests in one run share.
class RequestTracks {
 public:
  void begin(sim::Replay& run);

  /// No packet is in a channel for less.
  Tick step() const { return step_; }
  uint32_t core_period() const { return core_period_; }
  uint64_t cycle(Tick tick) const { return tick / core_period_; }
  const std::vector<std::string>& names() const { return names_; }

  /// Calls f(channel, packet, arrival) for everything of memory that is under way.
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
  /// Adds a hop that is not known yet; was it new?
  static bool add_hop(RequestWay& way, const Channel& c, const Packet& packet, Tick at,
                      Tick arrives);
  /// Notes what the vault where the request is does with it.
  void look_at_bank(sim::System& system, RequestWay& way, Tick at) const;

  /// Line of the source, or of PTX, of an instruction.
  std::string place_of(uint32_t kernel, uint32_t pc) const;
  /// The device address of a line, under the page tables as they are now.
  uint64_t address_of(sim::System& system, uint32_t line);
  /// The physical line of a device address.
  uint32_t line_of(sim::System& system, uint64_t address) const;
  uint64_t line_bytes() const { return grid_.line_bytes(); }

  /// The way's stages in lines, with the cycles that each took, which add up to all of them.
  std::string text_of(const RequestWay& way) const;
  /// The way as spans on a thread.
  void write(TraceWriter& out, uint32_t pid, uint32_t thread, std::string_view name,
             const RequestWay& way) const;

 private:
  uint32_t translated(sim::System& system, uint32_t space, uint32_t line) const;

  uint32_t core_period_ = 1;
  Tick step_ = 1;
  LineGrid grid_;
  std::vector<std::string> names_;                              ///< of endpoints
  std::map<std::pair<uint32_t, uint32_t>, std::string> lines_;  ///< by kernel and pc
};

}  // namespace nearwarp::timeline
