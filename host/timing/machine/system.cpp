// A simulated system: all components of a machine under a policy, laid out in one arena.
#include "host/timing/machine/system.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/core/error.h"
#include "host/timing/machine/assembly.h"
#include "host/timing/machine/baseline_map.h"
#include "kernels/clusters.h"

namespace nearwarp::sim {

void Assembly::build() {
  s_.base_mhz = config::base_mhz(m_);
  s_.core_period = period(m_.clocks.core_mhz);
  icnt_ = period(m_.clocks.interconnect_mhz);
  number_endpoints();
  s_.table = s_.arena.allocate<Component>(s_.ends.count);
  s_.names.resize(s_.ends.count);
  make_map();
  make_channels();
  make_sms();
  make_front_end();
  make_crossbars();
  for (uint32_t i = 0; i < s_.ends.num_slices; ++i) make_slice(i);
  for (uint32_t i = 0; i < s_.ends.num_stacks; ++i) make_port(i);
  for (uint32_t i = 0; i < s_.ends.num_stacks; ++i) make_stack(i);
  if (s_.ends.learning) make_host_memory();
  std::vector<const Channel*> channels;
  for (const ChannelInfo& c : s_.channels) channels.push_back(s_.arena.get(c.channel));
  s_.window = kernels::set_windows(s_.components(), channels);
}

void Assembly::number_endpoints() {
  Endpoints& e = s_.ends;
  e.offloading = policy_.mechanism == "tom";
  if (e.offloading && m_.stack.sms != 1)
    throw Error(
        fmt::format("{}: stack.sms = {} - TOM places one SM in each stack", m_.path, m_.stack.sms));
  e.num_sms = e.offloading ? m_.gpu.sms_with_ndp : m_.gpu.sms;
  e.num_stacks = m_.stack.count;
  e.num_slices = m_.l2.slices;
  e.vaults_per_stack = m_.stack.vaults;
  uint32_t at = 0;
  const auto take = [&at](uint32_t n) {
    const uint32_t first = at;
    at += n;
    return static_cast<uint16_t>(first);
  };
  e.first_sm = take(e.num_sms);
  e.first_stack_sm = take(e.offloading ? e.num_stacks : 0);
  e.first_slice = take(e.num_slices);
  e.first_vault = take(e.num_stacks * e.vaults_per_stack);
  e.first_port = take(e.num_stacks);
  e.first_switch = take(e.num_stacks);
  e.request_crossbar = take(1);
  e.reply_crossbar = take(1);
  e.invalidation_crossbar = take(e.offloading ? 1 : 0);
  e.learning = data_.learning_instances != 0;
  e.host_memory = take(e.learning ? 1 : 0);
  e.front_end = take(1);
  e.count = static_cast<uint16_t>(at);
}

void Assembly::make_map() {
  MemoryMap& map = s_.map;
  map.baseline = machine_address_map(m_);
  if (policy_.mapping != "tmap" && policy_.mapping != "oracle") return;
  OffloadMapping own;
  own.page_shift = kMappingPageShift - log2_exact(m_.l1.line_bytes);
  const uint64_t lines = data_.ranges.empty() ? 0 : data_.ranges.back().end;
  const uint64_t pages = (lines + (uint64_t{1} << own.page_shift) - 1) >> own.page_shift;
  own.pages = s_.arena.allocate<uint64_t>(static_cast<uint32_t>((pages + 63) / 64));
  map.offload = s_.arena.allocate<OffloadMapping>(1);
  *s_.arena.get(map.offload) = own;
}

System build_system(const config::MachineConfig& machine, const config::PolicyConfig& policy,
                    const ImageTables& image, const DataPlan& data) {
  System system;
  Assembly(machine, policy, image, data, system).build();
  return system;
}

uint64_t committed_instructions(System& system) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < system.table.count; ++i) {
    if (!kernels::is_sm(system.component(i).kind)) continue;
    const sm::SmCounters c = with_sm(system, i, [](const auto& s) { return s.counters; });
    n += c.issued - c.redundant;
  }
  return n;
}

}  // namespace nearwarp::sim
