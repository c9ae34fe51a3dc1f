// How busy links, buses, slices and the like were.
#include <algorithm>
#include <tuple>
#include <utility>

#include "host/timing/run/counters/router_wires.h"
#include "host/timing/run/counters/subjects.h"

namespace nearwarp::sim {

namespace {

using kernels::ComponentKind;
using report::Utilisation;

/// Collects utilisations, for those kinds of parts that the machine has.
class Table {
 public:
  Table(System& system, report::RunResult& result)
      : system_(system), result_(result), ticks_(result.cycles * system.core_period) {}

  /// `most`: components that it is of, if that is known.
  Utilisation begin(std::string name, std::string text, size_t most = 0) const {
    Utilisation use{std::move(name), std::move(text), 0, ticks_, 0, 0, {}};
    use.each.reserve(most);
    return use;
  }
  void end(Utilisation use) {
    if (use.components != 0) result_.utilisation.push_back(std::move(use));
  }

  void sms();
  void units(const ComponentClass& of, const std::string& in);
  void channels();
  void slices();
  void vaults();
  void tsvs();
  void crossbars();
  void routers();

 private:
  const std::string& name_of(uint32_t endpoint) const { return system_.nodes[endpoint].name; }

  System& system_;
  report::RunResult& result_;
  uint64_t ticks_;
};

/// Issue slots of the schedulers, turns of load-store units (a line, or a cycle of shared memory,
/// takes one), and page walkers.
void Table::sms() {
  for (const ComponentClass& c : system_.classes) {
    if (!is_sm_class(system_, c)) continue;
    const std::string in = c.name == "sm" ? "" : " of stack SMs";
    Utilisation issue = begin(c.name + ".issue", "issue slots" + in, c.members.size());
    Utilisation lsu = begin(c.name + ".lsu", "load-store units" + in, c.members.size());
    Utilisation walkers = begin(c.name + ".walkers", "page walkers" + in);
    for (const uint16_t endpoint : c.members) {
      const auto& p = system_.params<sm::SmParams>(endpoint);
      const sm::SmCounters n = with_sm(system_, endpoint, [](const auto& s) { return s.counters; });
      issue.add(n.issued() * p.period / p.num_schedulers, name_of(endpoint));
      lsu.add((n.load_lines + n.store_lines + n.atomic_lines + n.shared_cycles) * p.period,
              name_of(endpoint));
      if (p.tlb.entries == 0) continue;
      const uint64_t walks =
          with_sm(system_, endpoint, [](const auto& s) { return s.tlb.counters.walk_cycles; });
      walkers.add(walks * p.period / p.tlb.walkers, name_of(endpoint));
    }
    end(std::move(issue));
    end(std::move(lsu));
    end(std::move(walkers));
    units(c, in);
  }
}

/// Ports of the units that execute: an instruction takes one for as long as nothing else can begin
/// there. And copy engines, which read or write a line in a cycle.
void Table::units(const ComponentClass& of, const std::string& in) {
  static constexpr std::pair<const char*, const char*> kUnits[sm::kNumPortUnits] = {
      {".sp", "SP units"},
      {".sfu", "special-function units"},
      {".dp", "double-precision units"},
      {".int", "integer units"},
      {".matrix", "matrix units"}};
  for (uint32_t unit = 0; unit < sm::kNumPortUnits; ++unit) {
    Utilisation use =
        begin(of.name + kUnits[unit].first, kUnits[unit].second + in, of.members.size());
    for (const uint16_t endpoint : of.members) {
      const auto& p = system_.params<sm::SmParams>(endpoint);
      if (p.ports[unit] == 0) continue;
      const uint64_t busy =
          with_sm(system_, endpoint, [&](const auto& s) { return s.ports[unit].busy; });
      use.add(busy * p.period / p.ports[unit], name_of(endpoint));
    }
    end(std::move(use));
  }
  Utilisation engines = begin(of.name + ".copies", "copy engines" + in);
  for (const uint16_t endpoint : of.members) {
    const auto& p = system_.params<sm::SmParams>(endpoint);
    if (!p.copies) continue;
    const uint64_t lines = with_sm(system_, endpoint, [&](const auto& s) {
      const sm::CopyEngine& e = *s.copies.in(system_.arena.base());
      return e.load_lines + e.store_lines + e.atomic_lines;
    });
    engines.add(lines * p.period, name_of(endpoint));
  }
  end(std::move(engines));
}

/// The words for wires of a class.
struct WireText {
  const char* name;
  const char* text;
};
constexpr WireText text_of(ChannelClass kind) {
  switch (kind) {
    case ChannelClass::kSmToNetwork:
      return {"noc.from_sms", "SMs' wires into the network"};
    case ChannelClass::kNetworkToSm:
      return {"noc.to_sms", "SMs' wires out of the network"};
    case ChannelClass::kControl:
      return {"control", "wires of the front end"};
    case ChannelClass::kOnChip:
      return {"noc.memory_side", "wires at L2 slices and link ports"};
    case ChannelClass::kInvalidation:
      return {"noc.invalidations", "wires for invalidations"};
    case ChannelClass::kGpuToMemory:
      return {"link.gpu_to_memory", "TX links"};
    case ChannelClass::kMemoryToGpu:
      return {"link.memory_to_gpu", "RX links"};
    case ChannelClass::kMemoryToMemory:
      return {"link.memory_to_memory", "cross-stack links"};
    case ChannelClass::kIntoStack:
      return {"link.into_stacks", "cross-stack links, inwards"};
    case ChannelClass::kInStack:
      return {"stack.wires", "wires inside stacks"};
    case ChannelClass::kBanksToSm:
      return {"tsv.to_sms", "wires from TSVs to their subcores"};
    case ChannelClass::kPcie:
      return {report::kPcieName, "PCI-E"};
    case ChannelClass::kDirect:
      return {"direct", "wires between SMs"};
    case ChannelClass::kChainsToSm:
      return {"noc.chains_to_sms", "SMs' wires out of the network for chains"};
    case ChannelClass::kChainsFromSm:
      return {"noc.chains_from_sms", "SMs' wires into the network for chains"};
    case ChannelClass::kCluster:
      return {"noc.clusters", "SMs' wires in their GPC"};
    case ChannelClass::kSharedLines:
      return {"noc.shared_lines", "SMs' wires for shared lines"};
    case ChannelClass::kBetweenHalves:
      return {"l2.link", "links between halves of the L2"};
  }
  return {};
}

/// The load of a channel's wires.
struct WireUse {
  std::tuple<ChannelClass, uint16_t, uint16_t> where;  ///< and from which endpoint to which
  uint64_t busy = 0;                                   ///< ticks
};

/// Wires of all classes, but for those whose bandwidth is not limited; channels with the same ends
/// are virtual channels of one.
void Table::channels() {
  std::vector<WireUse> wires;
  wires.reserve(system_.channels.size());
  for (const ChannelInfo& info : system_.channels) {
    const Channel& c = *system_.arena.get(info.channel);
    if (c.ticks_per_byte_num != 0)
      wires.push_back({{info.kind, c.producer, c.consumer}, c.producer_side.busy});
  }
  std::ranges::sort(wires, {}, &WireUse::where);
  for (size_t i = 0; i < wires.size();) {
    const ChannelClass kind = std::get<ChannelClass>(wires[i].where);
    const WireText text = text_of(kind);
    Utilisation use = begin(text.name, text.text);
    while (i < wires.size() && std::get<ChannelClass>(wires[i].where) == kind) {
      const auto where = wires[i].where;
      uint64_t busy = 0;
      for (; i < wires.size() && wires[i].where == where; ++i) busy += wires[i].busy;
      use.add(busy, name_of(std::get<1>(where)) + " to " + name_of(std::get<2>(where)));
    }
    end(std::move(use));
  }
}

/// A request is looked up per cycle, or some of its sectors where these take turns at the tags.
void Table::slices() {
  Utilisation use = begin("l2.tags", "L2 slices' look-ups"),
              atomics = begin("l2.atomics", "L2 slices' atomics");
  for (const uint16_t endpoint : system_.of_kind(ComponentKind::kL2Slice)) {
    const auto& p = system_.params<L2SliceParams>(endpoint);
    const L2Counters& n = system_.state<L2SliceState>(endpoint).counters;
    use.add((p.sectors_per_cycle == 0 ? n.reads + n.writes + n.atomics : n.tag_cycles) * p.period,
            name_of(endpoint));
    if (p.atomic_cycles != 0) atomics.add(n.atomic_busy_cycles * p.period, name_of(endpoint));
  }
  end(std::move(use));
  end(std::move(atomics));
}

/// Data buses; the rate of activations (tRRD, and four in tFAW); and banks, each of which is taken
/// for tRC by an activation. What accesses to an open row make a bank wait for is not in it.
void Table::vaults() {
  Utilisation use = begin("dram.bus", "data buses of vaults"),
              activations = begin("dram.activations", "row activations of vaults"),
              banks = begin("dram.banks", "banks of vaults");
  for (const uint16_t endpoint : system_.of_kind(ComponentKind::kVault)) {
    const auto& p = system_.params<VaultParams>(endpoint);
    const auto& s = system_.state<VaultState>(endpoint);
    const VaultCounters& n = s.counters;
    const uint64_t apart = std::max<uint64_t>(4 * p.tRRD, p.tFAW);  // of four activations
    use.add(n.bus_busy_ticks, name_of(endpoint));
    activations.add(n.activates * apart * p.period / 4, name_of(endpoint));
    banks.add(n.activates * p.tRC * p.period / s.act_ok.count, name_of(endpoint));
  }
  end(std::move(use));
  end(std::move(activations));
  end(std::move(banks));
}

/// Port 0 of the switch at a core's TSVs leads down to the core, port 1 up to the banks.
void Table::tsvs() {
  for (const auto& [port, name, text, counter, what] :
       {std::tuple{1u, "tsv.up", "TSVs up to the banks", "stack.tsv_up_cycles",
                   "Time that a core's TSVs carried packets up, summed over cores"},
        std::tuple{0u, "tsv.down", "TSVs down from the banks", "stack.tsv_down_cycles",
                   "Time that a core's TSVs carried packets down, summed over cores"}}) {
    Utilisation use = begin(name, text);
    for (const uint16_t endpoint : system_.members("stack_switch")) {
      const auto& p = system_.params<SwitchParams>(endpoint);
      const auto& s = system_.state<SwitchState>(endpoint);
      use.add(s.out_ports.in(system_.arena.base())[port].flits_sent * p.period, name_of(endpoint));
    }
    result_.counters.push_back(
        {counter, use.busy_ticks / system_.core_period, "core cycles", what});
    end(std::move(use));
  }
  // Data of the core's own banks, among all that comes down: its subcores take it as TSVs bring it.
  Utilisation own = begin("tsv.to_sms", "TSVs down to the core's own subcores");
  for (const ChannelInfo& info : system_.channels) {
    if (info.kind != ChannelClass::kBanksToSm) continue;
    const Channel& c = *system_.arena.get(info.channel);
    const auto& p = system_.params<SwitchParams>(c.producer);
    own.add(c.producer_side.bytes * p.period / p.flit_bytes, name_of(c.consumer));
  }
  end(std::move(own));
}

void Table::crossbars() {
  Utilisation use = begin("noc.crossbar", "crossbar outputs");
  for (const uint16_t endpoint : system_.of_kind(ComponentKind::kCrossbar)) {
    const auto& p = system_.params<noc::CrossbarParams>(endpoint);
    const auto& s = system_.state<noc::CrossbarState>(endpoint);
    const noc::CrossbarOutput* outputs = s.out_ports.in(system_.arena.base());
    for (uint32_t i = 0; i < s.out_ports.count; ++i)
      use.add(outputs[i].flits_sent * p.period,
              "output " + std::to_string(i) + " of " + name_of(endpoint));
  }
  end(std::move(use));
}

void Table::routers() {
  for (const report::RouterNetwork& n : router_networks(system_, ticks_)) {
    Utilisation use = begin("noc.wires", "wires between routers, " + n.name);
    use.available_ticks = n.cycles;  // a flit takes a cycle
    for (const report::RouterWire& w : n.wires)
      use.add(w.flits, "router " + std::to_string(w.from) + " to " + std::to_string(w.to));
    end(std::move(use));
  }
}

}  // namespace

void collect_utilisation(System& system, report::RunResult& result) {
  Table table(system, result);
  table.sms();
  table.channels();
  table.crossbars();
  table.routers();
  table.slices();
  if (result.parts.core_tsvs) table.tsvs();
  table.vaults();
}

}  // namespace nearwarp::sim
