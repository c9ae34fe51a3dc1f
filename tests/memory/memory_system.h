// A machine's whole memory side: crossbars, L2 slices, link ports, stack switches, vaults; SMs are
// mocks.
//
// Endpoints: SMs, slices, link ports, stack SMs, vaults, the front end, in this order.
#pragma once

#include <string>

#include "device/cache/l2_slice.h"
#include "device/dram/vault.h"
#include "device/link/link_port.h"
#include "device/noc/switch.h"
#include "tests/support/rig.h"

namespace nearwarp::testing {

/// DDR3-1600, JESD79-3F, 11-11-11, in cycles of 800 MHz.
inline VaultParams ddr3_1600() {
  VaultParams p;
  p.tCL = 11;
  p.tCWL = 8;
  p.tRCD = 11;
  p.tRP = 11;
  p.tRAS = 28;
  p.tRC = 39;
  p.tRRD = 5;
  p.tFAW = 24;
  p.tCCD = 4;
  p.tWR = 12;
  p.tWTR = 6;
  p.tRTP = 6;
  p.tRTW = 9;
  p.tREFI = 6240;
  p.tRFC = 128;
  p.starvation_cycles = 2000;
  p.write_high = 24;
  p.write_low = 8;
  p.header_bytes = 8;
  p.line_bytes = 128;
  p.sector_bytes = 32;
  return p;
}

struct MemoryConfig {
  uint32_t sms = 4, sms_per_cluster = 4, stack_sms = 1;  ///< stack SMs per stack
  uint32_t stacks = 1, slices_per_stack = 1, vaults = 1, banks = 16;
  uint32_t icnt_period = 112, l2_period = 200, dram_period = 175;
  uint32_t flit_bytes = 32, stack_flit_bytes = 128, slots = 8, vault_queue = 32;
  Tick hop = 448;  ///< latency of every channel and credit; the longest permitted window
  Tick link_latency = 896;
  uint32_t link_num = 7, link_den = 4;  ///< ticks per byte: 80 GB/s at 140 GHz
  uint32_t cross_num = 7, cross_den = 2;
  uint32_t l2_latency = 20, set_bits = 5, ways = 16, mshrs = 64, merges = 4;
  uint32_t monitor = 1;
  uint8_t by_sectors = 0, write_back = 0;  ///< of the slices; without invalidations
  L2WriteMiss write_miss = L2WriteMiss::kAllocate;
  /// Unless it is kKeep, launches begin amid the traffic (random_traffic.h).
  L2AtLaunch at_launch = L2AtLaunch::kKeep;
  uint8_t atomics_in_memory = 0;
  VaultParams dram = ddr3_1600();
};

inline uint32_t log2_of(uint32_t n) {
  uint32_t bits = 0;
  while ((1u << bits) < n) ++bits;
  return bits;
}

class MemorySystem {
 public:
  MemoryConfig config;
  Rig rig;
  std::vector<Ref<Channel>> sm_out, sm_in;              ///< requests and replies of main SMs
  std::vector<Ref<Channel>> sm_invalidations;           ///< invalidations by main SMs
  std::vector<Ref<Channel>> stack_sm_out, stack_sm_in;  ///< requests and replies of stack SMs
  std::vector<Ref<Channel>> link_tx, link_rx, control;
  std::vector<Ref<SwitchState>> crossbars, stack_switches;
  std::vector<Ref<L2SliceState>> slices;
  std::vector<Ref<LinkPortState>> ports;
  std::vector<Ref<VaultState>> vaults;
  std::vector<VaultParams> vault_params;
  AddressMap map;
  uint16_t first_slice, first_port, first_stack_sm, first_vault, front_end, endpoints;

  explicit MemorySystem(const MemoryConfig& c) : config(c) {
    map.stack_bits = log2_of(c.stacks);
    map.vault_bits = log2_of(c.vaults);
    map.bank_bits = log2_of(c.banks);
    map.slice_bits = log2_of(c.slices_per_stack);
    uint32_t at = c.sms;
    const auto take = [&at](uint32_t n) {
      const uint32_t first = at;
      at += n;
      return static_cast<uint16_t>(first);
    };
    first_slice = take(c.stacks * c.slices_per_stack);
    first_port = take(c.stacks);
    first_stack_sm = take(c.stacks * c.stack_sms);
    first_vault = take(c.stacks * c.vaults);
    front_end = take(1);
    endpoints = static_cast<uint16_t>(at);
    for (uint32_t i = 0; i < c.sms; ++i) {
      sm_out.push_back(hop());
      sm_in.push_back(hop());
      sm_invalidations.push_back(hop());
    }
    for (uint32_t i = 0; i < c.stacks * c.stack_sms; ++i) {
      stack_sm_out.push_back(hop());
      stack_sm_in.push_back(hop());
    }
    for (uint32_t i = 0; i < c.stacks; ++i) {
      link_tx.push_back(link());
      link_rx.push_back(link());
      control.push_back(hop());
    }
    const uint32_t n = c.stacks * c.slices_per_stack;
    for (uint32_t i = 0; i < n; ++i) {
      slice_request_.push_back(hop());
      slice_reply_.push_back(hop());
      slice_invalidate_.push_back(hop());
      slice_to_port_.push_back(hop());
      port_to_slice_.push_back(hop());
    }
    for (uint32_t s = 0; s < c.stacks; ++s) {
      offload_request_.push_back(hop());
      port_reply_.push_back(hop());
    }
    const uint32_t all_vaults = c.stacks * c.vaults;
    vault_homes_ = {rig.arena.allocate<Endpoint>(all_vaults), c.vaults};
    for (uint32_t v = 0; v < all_vaults; ++v)
      rig.arena.get(vault_homes_.endpoints)[v] = endpoint_of(first_vault + v);
    make_crossbars();
    for (uint32_t i = 0; i < n; ++i) make_slice(i);
    for (uint32_t s = 0; s < c.stacks; ++s) make_port(s);
    make_stacks();
  }

  /// Sum of a counter over components: sum(vaults, [](const VaultState& v) { return ...; }).
  template <class S, class F>
  uint64_t sum(const std::vector<Ref<S>>& states, F&& f) {
    uint64_t total = 0;
    for (const Ref<S> ref : states) total += f(*rig.arena.get(ref));
    return total;
  }
  bool faultless() {
    return sum(crossbars, [](auto& s) { return s.fault.code; }) +
               sum(slices, [](auto& s) { return s.fault.code; }) +
               sum(ports, [](auto& s) { return s.ports.fault.code; }) +
               sum(stack_switches, [](auto& s) { return s.fault.code; }) +
               sum(vaults, [](auto& s) { return s.fault.code; }) ==
           0;
  }

 private:
  std::vector<Ref<Channel>> slice_request_, slice_reply_, slice_invalidate_, slice_to_port_,
      port_to_slice_;
  std::vector<Ref<Channel>> offload_request_, port_reply_;
  HomeTable vault_homes_;

  Ref<Channel> hop() {
    const auto l = static_cast<uint32_t>(config.hop);
    return rig.channel({config.slots, l, l, 0, 1});
  }
  Ref<Channel> link() {
    return rig.channel({config.slots * 2, static_cast<uint32_t>(config.link_latency),
                        static_cast<uint32_t>(config.hop), config.link_num, config.link_den});
  }
  Ref<Channel> cross_link() {
    return rig.channel({config.slots, static_cast<uint32_t>(config.link_latency),
                        static_cast<uint32_t>(config.hop), config.cross_num, config.cross_den});
  }
  template <class S>
  Ref<S> store(const S& s) {
    const Ref<S> ref = rig.arena.allocate<S>(1);
    *rig.arena.get(ref) = s;
    return ref;
  }
  SwitchParams switch_params(uint32_t flit_bytes) const {
    SwitchParams p;
    p.period = config.icnt_period;
    p.flit_bytes = flit_bytes;
    p.endpoints = endpoints;
    return p;
  }
  static std::vector<Ref<Channel>> channels_of(const std::vector<SwitchLink>& links) {
    std::vector<Ref<Channel>> channels;
    for (const SwitchLink& link : links) channels.push_back(link.channel);
    return channels;
  }
  void add_switch(const SwitchParams& p, Ref<SwitchState> ref, std::vector<Ref<Channel>> inputs) {
    rig.add([this, p, ref](std::byte* base, Window w,
                           Horizon& h) { return step_switch(p, *ref.in(base), base, w, h); },
            std::move(inputs));
  }

  void make_crossbars() {
    const SwitchParams p = switch_params(config.flit_bytes);
    const uint32_t n = config.stacks * config.slices_per_stack;
    std::vector<SwitchLink> sms_out, sms_in, to_memory, from_memory, drop_from, drop_to;
    for (uint32_t i = 0; i < config.sms; ++i) {
      const auto port = static_cast<uint16_t>(i / config.sms_per_cluster);
      sms_out.push_back({sm_out[i], port});
      sms_in.push_back({sm_in[i], port});
      drop_from.push_back({sm_invalidations[i], port});
    }
    for (uint32_t i = 0; i < n; ++i) {
      to_memory.push_back({slice_request_[i], static_cast<uint16_t>(i)});
      from_memory.push_back({slice_reply_[i], static_cast<uint16_t>(i)});
      drop_to.push_back({slice_invalidate_[i], static_cast<uint16_t>(i)});
    }
    for (uint32_t s = 0; s < config.stacks; ++s) {
      to_memory.push_back({offload_request_[s], static_cast<uint16_t>(n + s)});
      from_memory.push_back({port_reply_[s], static_cast<uint16_t>(n + s)});
    }
    const SwitchState request = make_switch(rig.arena, p, sms_out, to_memory);
    const SwitchState reply = make_switch(rig.arena, p, from_memory, sms_in);
    const SwitchState drop = make_switch(rig.arena, p, drop_from, drop_to);
    std::byte* base = rig.arena.base();
    for (uint16_t i = 0; i < n; ++i) {
      set_route(p, request, base, static_cast<uint16_t>(first_slice + i), i, kNoRoute);
      set_route(p, drop, base, static_cast<uint16_t>(first_slice + i), i, kNoRoute);
    }
    for (uint16_t s = 0; s < config.stacks; ++s) {
      for (uint16_t k = 0; k < config.stack_sms; ++k) {
        set_route(p, request, base,
                  static_cast<uint16_t>(first_stack_sm + s * config.stack_sms + k),
                  static_cast<uint16_t>(n + s), kNoRoute);
      }
    }
    for (uint16_t i = 0; i < config.sms; ++i) set_route(p, reply, base, i, kNoRoute, i);
    crossbars.push_back(store(request));
    add_switch(p, crossbars.back(), channels_of(sms_out));
    crossbars.push_back(store(reply));
    add_switch(p, crossbars.back(), channels_of(from_memory));
    crossbars.push_back(store(drop));
    add_switch(p, crossbars.back(), channels_of(drop_from));
  }

  void make_slice(uint32_t i) {
    L2SliceParams p;
    p.period = config.l2_period;
    p.latency_cycles = config.l2_latency;
    p.index = {1u << config.set_bits, config.set_bits, cache::SetFunction::kFolded};
    p.ways = config.ways;
    p.mshr_entries = config.mshrs;
    p.mshr_merges = config.merges;
    p.by_sectors = config.by_sectors;
    p.write_back = config.write_back;
    p.write_miss = config.write_miss;
    p.at_launch = config.at_launch;
    p.atomics_in_memory = config.atomics_in_memory;
    p.header_bytes = 8;
    p.line_bytes = 128;
    p.sector_bytes = 32;
    p.endpoint = endpoint_of(first_slice + i);
    p.homes = vault_homes_;
    p.map = map;
    L2SliceState s =
        make_l2_slice(rig.arena, p, config.slots,
                      {slice_request_[i], port_to_slice_[i], slice_to_port_[i], slice_reply_[i]});
    s.invalidate_in = slice_invalidate_[i];
    const Ref<L2SliceState> ref = store(s);
    slices.push_back(ref);
    rig.add([this, p, ref](std::byte* base, Window w,
                           Horizon& h) { return step_l2_slice(p, *ref.in(base), base, w, h); },
            {slice_request_[i], port_to_slice_[i], slice_invalidate_[i]});
  }

  void make_port(uint32_t s) {
    LinkPortParams p;
    p.ports = switch_params(0xffff);
    p.monitor = config.monitor;
    p.interval_ticks = 100 * config.icnt_period;
    p.threshold_percent = 80;
    p.endpoint = endpoint_of(first_port + s);
    p.front_end = endpoint_of(front_end);
    p.control_bytes = 8;
    std::vector<SwitchLink> in, out;
    uint16_t port = 0;
    const uint32_t k = config.slices_per_stack;
    for (uint32_t i = 0; i < k; ++i) in.push_back({slice_to_port_[s * k + i], port++});
    in.push_back({offload_request_[s], port++});
    in.push_back({link_rx[s], port++});
    port = 0;
    for (uint32_t i = 0; i < k; ++i) out.push_back({port_to_slice_[s * k + i], port++});
    out.push_back({port_reply_[s], port++});
    out.push_back({link_tx[s], port++});
    const LinkPortState state =
        make_link_port(rig.arena, p, {in, out, link_tx[s], link_rx[s], control[s]});
    std::byte* base = rig.arena.base();
    for (uint16_t e = 0; e < endpoints; ++e) {
      const bool own = e >= first_slice + s * k && e < first_slice + (s + 1) * k;
      const bool stack_sm = e >= first_stack_sm + s * config.stack_sms &&
                            e < first_stack_sm + (s + 1) * config.stack_sms;
      const bool vault =
          e >= first_vault + s * config.vaults && e < first_vault + (s + 1) * config.vaults;
      set_route(p.ports, state.ports, base, e,
                vault || stack_sm ? static_cast<uint16_t>(k + 1) : kNoRoute,
                own              ? static_cast<uint16_t>(e - first_slice - s * k)
                : e < config.sms ? static_cast<uint16_t>(k)
                                 : kNoRoute);
    }
    const Ref<LinkPortState> ref = store(state);
    ports.push_back(ref);
    rig.add([this, p, ref](std::byte* b, Window w,
                           Horizon& h) { return step_link_port(p, *ref.in(b), b, w, h); },
            channels_of(in));
  }

  void make_stacks() {
    const uint32_t n = config.stacks;
    // [from][to]: requests, replies
    std::vector<std::vector<Ref<Channel>>> requests(n), replies(n);
    for (uint32_t a = 0; a < n; ++a) {
      for (uint32_t b = 0; b < n; ++b) {
        requests[a].push_back(a == b ? Ref<Channel>{} : cross_link());
        replies[a].push_back(a == b ? Ref<Channel>{} : cross_link());
      }
    }
    for (uint32_t s = 0; s < n; ++s) {
      std::vector<Ref<Channel>> to_vault, from_vault;
      for (uint32_t v = 0; v < config.vaults; ++v) {
        to_vault.push_back(hop());
        from_vault.push_back(hop());
        make_vault_component(s, v, to_vault.back(), from_vault.back());
      }
      const SwitchParams p = switch_params(config.stack_flit_bytes);
      std::vector<SwitchLink> in, out;
      uint16_t port = 0;
      in.push_back({link_tx[s], port++});
      for (uint32_t o = 0; o < n; ++o) {
        if (o == s) continue;
        in.push_back({requests[o][s], port});
        in.push_back({replies[o][s], port++});
      }
      for (const auto c : from_vault) in.push_back({c, port++});
      for (uint32_t k = 0; k < config.stack_sms; ++k) {
        in.push_back({stack_sm_out[s * config.stack_sms + k], port++});
      }
      port = 0;
      std::vector<std::pair<uint16_t, uint16_t>> cross(n);
      out.push_back({link_rx[s], port++});
      for (uint32_t o = 0; o < n; ++o) {
        if (o == s) continue;
        cross[o].first = static_cast<uint16_t>(out.size());
        out.push_back({requests[s][o], port});
        cross[o].second = static_cast<uint16_t>(out.size());
        out.push_back({replies[s][o], port++});
      }
      const auto vault0 = static_cast<uint16_t>(out.size());
      for (const auto c : to_vault) out.push_back({c, port++});
      const auto sm0 = static_cast<uint16_t>(out.size());
      for (uint32_t k = 0; k < config.stack_sms; ++k) {
        out.push_back({stack_sm_in[s * config.stack_sms + k], port++});
      }
      const SwitchState state = make_switch(rig.arena, p, in, out);
      std::byte* base = rig.arena.base();
      for (uint16_t e = 0; e < first_port; ++e) set_route(p, state, base, e, kNoRoute, 0);
      for (uint32_t o = 0; o < n; ++o) {
        for (uint32_t k = 0; k < config.stack_sms; ++k) {
          const auto out_at = static_cast<uint16_t>(sm0 + k);
          const auto e = static_cast<uint16_t>(first_stack_sm + o * config.stack_sms + k);
          set_route(p, state, base, e, o == s ? out_at : kNoRoute,
                    o == s ? out_at : cross[o].second);
        }
        for (uint32_t v = 0; v < config.vaults; ++v) {
          const auto e = static_cast<uint16_t>(first_vault + o * config.vaults + v);
          set_route(p, state, base, e, o == s ? static_cast<uint16_t>(vault0 + v) : cross[o].first,
                    kNoRoute);
        }
      }
      stack_switches.push_back(store(state));
      add_switch(p, stack_switches.back(), channels_of(in));
    }
  }

  void make_vault_component(uint32_t stack, uint32_t v, Ref<Channel> in, Ref<Channel> out) {
    VaultParams p = config.dram;
    p.sector_reads = config.by_sectors;
    p.period = config.dram_period;
    p.ticks_per_byte_num = 14;  // 10 GB/s at 140 GHz
    p.endpoint = endpoint_of(first_vault + stack * config.vaults + v);
    p.map = map;
    const Ref<VaultState> ref =
        store(make_vault(rig.arena, p, config.banks, config.vault_queue, in, out));
    vaults.push_back(ref);
    vault_params.push_back(p);
    rig.add([this, p, ref](std::byte* base, Window w,
                           Horizon& h) { return step_vault(p, *ref.in(base), base, w, h); },
            {in});
  }
};

/// The memory side of TOM's machine (table 1).
inline MemoryConfig tom_memory() {
  MemoryConfig c;
  c.sms = 68;
  c.stacks = 4;
  c.slices_per_stack = 4;
  c.vaults = 16;
  c.l2_latency = 120;
  c.mshrs = 128;
  return c;
}

}  // namespace nearwarp::testing
