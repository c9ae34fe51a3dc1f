// Parts and wires that shapes are put together from, as a machine's keys describe them.
#pragma once

#include "host/config/config.h"
#include "host/timing/machine/graph.h"
#include "host/timing/program/gpcs.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp::sim {

/// Requirements of mechanisms on the machine that they run on; they add their parts themselves.
struct MachineNeeds {
  /// The stacks compute: the main GPU has gpu.sms_with_ndp SMs.
  bool stacks_compute = false;

  void add(const MachineNeeds& n) { stacks_compute |= n.stacks_compute; }
};

/// The configuration and the program that a machine is built for.
struct ShapeInputs {
  const config::MachineConfig& machine;
  const ImageTables& image;
  MachineNeeds needs = {};
};

struct Parts : ShapeInputs {
  uint64_t base_mhz;
  uint32_t core_period, icnt_period;  ///< ticks per cycle

  explicit Parts(const ShapeInputs& inputs);

  /// Rounded where clocks have no common multiple that would do (host/config/base_clock.cpp).
  uint32_t period(uint32_t mhz) const { return static_cast<uint32_t>((base_mhz + mhz / 2) / mhz); }
  Tick ns_ticks(uint64_t ns) const { return ns * base_mhz / 1000; }
  /// The port of a crossbar that a main SM has.
  uint32_t cluster_of(uint32_t sm) const { return sm / machine.gpu.sms_per_cluster; }

  /// Have the SMs' GPCs networks, since the program has clusters?
  bool has_gpcs() const { return image.has_clusters; }
  /// The GPC of a main SM.
  uint32_t gpc_of(uint32_t sm) const { return sim::gpc_of(machine, sm); }

  /// A graph with clocks and the baseline mapping, and nothing in it.
  Graph empty_graph() const;

  // --- wires ---

  Wire hop() const {
    return {machine.interconnect.channel_latency_cycles * icnt_period,
            machine.interconnect.queue_entries, 0};
  }
  /// The wire of packets that pass an SM's L1 before it: as much longer, with room for them.
  Wire from_sm(Wire wire) const {
    const uint32_t more = machine.l1.miss_latency_cycles * core_period;
    wire.latency += more;
    wire.slots += 2 * ((more + icnt_period - 1) / icnt_period);
    return wire;
  }
  /// The wire between a stack's SM and its switch.
  Wire at_stack_sm() const {
    Wire wire = in_stack();
    if (machine.stack.sm_latency_cycles != 0)
      wire.latency = machine.stack.sm_latency_cycles * icnt_period;
    return wire;
  }
  Wire in_stack() const {
    return {machine.stack.switch_latency_cycles * icnt_period, machine.stack.queue_entries, 0};
  }
  Wire off_chip(uint32_t mbps) const {
    return {machine.links.latency_cycles * icnt_period, machine.links.queue_entries, mbps};
  }
  Wire in_partition() const {
    return {machine.partitions.latency_cycles * icnt_period, machine.partitions.queue_entries, 0};
  }
  /// The wire between two halves of the L2, one way of one kind of packets.
  Wire between_halves() const {
    const uint64_t mbps = uint64_t{machine.l2.link_bytes} * machine.clocks.interconnect_mhz;
    return {machine.l2.link_latency_cycles * icnt_period,
            2 * machine.l2.link_latency_cycles + machine.interconnect.queue_entries,
            static_cast<uint32_t>(mbps)};
  }
  /// The wire between an SM and its GPC's network, four of which a request and its answer pass.
  Wire in_gpc() const {
    const uint32_t cycles = machine.lsu.remote_shared_cycles / 4;
    return {cycles * core_period, 2 * cycles, 0};
  }
  /// MB/s at which the GPU's network can feed an SM whose port is wanted by all that share it.
  uint32_t share_of_port() const {
    const uint64_t mbps = uint64_t{machine.interconnect.flit_bytes} *
                          machine.clocks.interconnect_mhz / machine.gpu.sms_per_cluster;
    return static_cast<uint32_t>(mbps != 0 ? mbps : 1);
  }
  Wire control(uint32_t slots) const {
    return {machine.gpu.control_latency_cycles * icnt_period, slots, 0};
  }

  // --- nodes; homes are the shape's ---

  SmSpec main_sm() const;
  SmSpec stack_sm() const;
  L2SliceSpec l2_slice() const;
  /// `mbps`: of its data bus.
  VaultSpec vault(uint32_t mbps) const;
  SwitchSpec crossbar_switch(uint32_t flit_bytes) const;
  /// The network between the SMs and the memory side, by the machine's topology.
  NodeSpec network(bool from_sms) const;
  LinkPortSpec link_port() const;
  FrontEndSpec front_end() const;
};

}  // namespace nearwarp::sim
