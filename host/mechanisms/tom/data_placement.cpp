// TOM's driver and runtime on the host: allocation table, choice of a mapping, placement.
#include "host/mechanisms/tom/data_placement.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "device/cache/l2_slice.h"
#include "host/functional/instructions/decoded.h"
#include "host/mechanisms/tom/settings.h"
#include "host/mechanisms/tom/sides.h"
#include "host/timing/machine/baseline_map.h"

namespace nearwarp::sim {

AllocationTable::AllocationTable(const std::vector<runtime::Allocation>& allocations,
                                 uint32_t entries) {
  const auto known = std::min<size_t>(allocations.size(), entries);
  left_out = static_cast<uint32_t>(allocations.size() - known);
  std::vector<uint32_t> order(known);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return allocations[a].address < allocations[b].address;
  });
  for (const uint32_t i : order) {
    const runtime::Allocation& a = allocations[i];
    if (a.bytes == 0) continue;
    if (!ranges.empty() && a.address < ranges.back().address + ranges.back().bytes) {
      Range& last = ranges.back();
      last.bytes = std::max(last.bytes, a.address + a.bytes - last.address);
      last.allocations.push_back(i);
    } else {
      ranges.push_back({a.address, a.bytes, {i}});
    }
  }
}

DataPlacement::DataPlacement(const runtime::Recording& recording,
                             const config::MachineConfig& machine,
                             const config::PolicyConfig& policy, const ImageTables& image,
                             const tom::OffloadTables& offload)
    : recording_(recording),
      table_(recording.allocations, machine.table<tom::OffloadParts>().allocation_entries),
      learns_(policy.mapping == "tmap"),
      knows_(policy.mapping == "oracle"),
      stack_bits_(static_cast<uint32_t>(std::countr_zero(machine.stack.count))),
      line_shift_(static_cast<uint32_t>(std::countr_zero(machine.l1.line_bytes))) {
  for (const AllocationTable::Range& r : table_.ranges) {
    const uint64_t first = r.address - exec::kDeviceBase, end = first + r.bytes;
    plan_.ranges.push_back(
        {static_cast<LineAddr>(first >> line_shift_),
         static_cast<LineAddr>((end + machine.l1.line_bytes - 1) >> line_shift_)});
  }
  plan_.memory_bytes = image.memory_bytes;
  touched_.assign(table_.ranges.size(), 0);
  if (offload.candidates.empty()) return;
  StudyOptions options;
  options.line_bytes = machine.l1.line_bytes;
  if (learns_) {
    total_instances_ = known_instances(recording, image, offload, options);
    plan_.learning_instances =
        (total_instances_ * policy.table<tom::LearningSettings>().learning_permille + 999) / 1000;
  }
  if (knows_) {
    study_ = known_study(recording, image, offload, machine_address_map(machine), options);
    total_instances_ = study_.instances;
    for (size_t i = 0; i < table_.ranges.size(); ++i)
      for (const uint32_t a : table_.ranges[i].allocations)
        if (study_.touched[a]) touched_[i] = 1;
  }
}

void DataPlacement::begin(System& system, uint32_t) {
  if (plan_.learning_instances != 0) keep_in_host_memory(system);
  if (knows_ && study_.instances != 0) place(system, study_.best(), touched_);
}

void DataPlacement::watch(System& system, uint32_t number) {
  if (placed_ || !learns_) return;
  const tom::ArbiterState& arbiter = tom::arbiter(system, number);
  if (arbiter.learning != tom::LearningPhase::kHeld) return;
  uint8_t& wanted_by = system.front_end().host_wanted_by;
  wanted_by = static_cast<uint8_t>(wanted_by & ~(1u << number));
  tom::each_side(system, number, [&](uint32_t, const auto& side) {
    const uint8_t* t = side.analyzer.touched.in(system.arena.base());
    for (uint32_t k = 0; k < side.analyzer.touched.count; ++k) touched_[k] |= t[k];
  });
  place(system, tom::best_mapping(arbiter.seen.at_destination), touched_);
  copy_from_host(system);
}

namespace {

/// Saves or restores the counts that were seen, without their ticks, which are another run's.
template <class A>
void io_seen(A& a, tom::ArbiterState& s) {
  runtime::io_all(a, s.seen.instances, s.seen.accesses, s.late_reports);
  for (uint32_t m = 0; m < kNumMappings; ++m)
    runtime::io_all(a, s.seen.at_destination[m], s.seen.one_stack[m]);
}

}  // namespace

std::string DataPlacement::learnt(System& system, uint32_t number) const {
  if (!placed_ || !learns_) return {};
  runtime::Writer out;
  uint32_t mapping = mapping_;
  std::vector<uint8_t> touched = touched_;
  runtime::io_all(out, mapping, touched);
  io_seen(out, tom::arbiter(system, number));
  return {out.out.begin(), out.out.end()};
}

void DataPlacement::begin_learnt(System& system, uint32_t number, std::string_view bytes) {
  runtime::Reader in(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  uint32_t mapping = 0;
  std::vector<uint8_t> touched;
  runtime::io_all(in, mapping, touched);
  tom::ArbiterState& arbiter = tom::arbiter(system, number);
  io_seen(in, arbiter);
  arbiter.learning = tom::LearningPhase::kOver;
  tom::each_side(system, number,
                 [](uint32_t, auto& side) { side.analyzer.mode = tom::SmMode::kNormal; });
  for (const uint16_t endpoint : system.sms) {
    auto& counts = system.state<sm::SmState>(endpoint).counts_accesses;
    counts = static_cast<uint8_t>(counts & ~(1u << number));
  }
  touched_ = std::move(touched);
  place(system, mapping, touched_);
}

/// L2 slices find the program's data in the CPU's memory, behind their link ports. Code, constants,
/// page tables and local memory are in the GPU's from the beginning.
void DataPlacement::keep_in_host_memory(System& system) const {
  const std::span<const uint16_t> hosts = system.members("host_memory");
  for (const uint16_t slice : system.members("l2")) {
    L2SliceState& s = system.state<L2SliceState>(slice);
    s.elsewhere = endpoint_of(hosts[system.nodes[slice].stack]);
    s.elsewhere_end = static_cast<LineAddr>((plan_.memory_bytes - 1) >> line_shift_) + 1;
  }
}

/// All SMs stand still. What slices hold lies under another mapping from now on.
void DataPlacement::copy_from_host(System& system) const {
  for (const uint16_t slice : system.members("l2")) {
    L2SliceState& s = system.state<L2SliceState>(slice);
    s.elsewhere_end = 0;
    l2_flush(s, system.arena.base());
  }
}

void DataPlacement::place(System& system, uint32_t mapping, const std::vector<uint8_t>& touched) {
  constexpr uint32_t kOwnMap = 1;
  std::byte* base = system.arena.base();
  AddressMap& own = system.map.others.in(base)[kOwnMap - 1];
  own = consecutive_bits_map(system.map.baseline, mapping);
  own.line_mask = kMaxMappedLines - 1;
  const uint32_t shift = system.page_tables.translation.page_shift;
  for (size_t i = 0; i < touched.size(); ++i) {
    if (touched[i] == 0) continue;
    const tom::LineRange& r = plan_.ranges[i];
    const uint32_t first = r.first >> shift, last = (r.end - 1) >> shift;
    system.page_tables.map_pages(base, 0, first, last - first + 1, first << shift, kOwnMap);
  }
  mapping_ = mapping;
  placed_ = true;
}

std::optional<tom::MappingReport> DataPlacement::report(System& system, uint32_t number) const {
  if (!learns_ && !knows_) return std::nullopt;
  tom::MappingReport r;
  r.learnt = learns_;
  r.applied = placed_;
  r.first_bit = mapping_ + line_shift_;
  r.last_bit = r.first_bit + std::max(1u, stack_bits_) - 1;  // one stack: no bit chooses it
  r.total_instances = total_instances_;
  r.wanted_instances = plan_.learning_instances;
  r.ranges_left_out = table_.left_out;
  const tom::ArbiterState& f = tom::arbiter(system, number);
  r.seen_instances = learns_ ? f.seen.instances : study_.instances;
  r.seen_accesses = learns_ ? f.seen.accesses : study_.accesses;
  for (uint32_t m = 0; m < kNumMappings; ++m) {
    tom::MappingScore s;
    s.first_bit = line_shift_ + m;
    s.at_destination = learns_ ? f.seen.at_destination[m] : study_.mapping[m].at_destination;
    s.one_stack = learns_ ? f.seen.one_stack[m] : study_.mapping[m].one_stack;
    r.scores.push_back(s);
  }
  if (learns_) {
    const auto cycle = [&](Tick t) { return (t + system.core_period - 1) / system.core_period; };
    r.interrupt_cycle = cycle(f.stop_at);
    r.standstill_cycle = cycle(f.held_at);
    r.resume_cycle = cycle(f.resume_at);
  }
  for (size_t i = 0; i < table_.ranges.size(); ++i) {
    const AllocationTable::Range& t = table_.ranges[i];
    tom::MappedRange out;
    out.address = t.address;
    out.bytes = t.bytes;
    for (const uint32_t a : t.allocations) {
      const std::string& label = recording_.allocations[a].label;
      if (label.empty() || out.name.find(label) != std::string::npos) continue;
      out.name += (out.name.empty() ? "" : ", ") + label;
    }
    out.remapped = placed_ && touched_[i] != 0;
    r.ranges.push_back(std::move(out));
  }
  return r;
}

}  // namespace nearwarp::sim
