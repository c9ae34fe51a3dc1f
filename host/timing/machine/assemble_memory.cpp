// The memory side of a system: L2 slices, stacks with their switches and vaults, the CPU's memory.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "host/timing/machine/assembly.h"

namespace nearwarp::sim {

void Assembly::make_slice(uint32_t i) {
  const Endpoints& e = s_.ends;
  L2SliceParams p;
  p.period = period(m_.clocks.l2_mhz);
  p.latency_cycles = m_.l2.latency_cycles;
  p.set_bits = log2_exact(m_.l2.bytes / m_.l2.slices / (m_.l2.ways * m_.l1.line_bytes));
  p.ways = m_.l2.ways;
  p.mshr_entries = m_.l2.mshr_entries;
  p.mshr_merges = m_.l2.mshr_merges;
  p.header_bytes = static_cast<uint16_t>(m_.packets.header_bytes);
  p.line_bytes = static_cast<uint16_t>(m_.l1.line_bytes);
  p.sector_bytes = static_cast<uint16_t>(m_.packets.sector_bytes);
  p.endpoint = static_cast<uint16_t>(e.first_slice + i);
  p.first_vault_endpoint = e.first_vault;
  p.vaults_per_stack = static_cast<uint16_t>(e.vaults_per_stack);
  p.map = s_.map;
  L2SliceState s = make_l2_slice(s_.arena, p, m_.l2.queue_entries, slice_request_[i],
                                 port_to_slice_[i], slice_to_port_[i], slice_reply_[i]);
  std::vector<Ref<Channel>> inputs{slice_request_[i], port_to_slice_[i]};
  if (e.offloading) {
    s.invalidate_in = slice_invalidate_[i];
    inputs.push_back(slice_invalidate_[i]);
  }
  add(e.first_slice + i, ComponentKind::kL2Slice, p, s, inputs, fmt::format("l2 slice {}", i));
}

void Assembly::make_host_memory() {
  HostMemoryParams p;
  p.period = icnt_;
  p.header_bytes = static_cast<uint16_t>(m_.packets.header_bytes);
  p.line_bytes = static_cast<uint16_t>(m_.l1.line_bytes);
  p.sector_bytes = static_cast<uint16_t>(m_.packets.sector_bytes);
  p.endpoint = s_.ends.host_memory;
  HostMemoryState s;
  s.in = to_host_;
  s.out = from_host_;
  add(s_.ends.host_memory, ComponentKind::kHostMemory, p, s, std::vector<Ref<Channel>>{to_host_},
      "CPU memory");
}

void Assembly::make_stack(uint32_t k) {
  const Endpoints& e = s_.ends;
  std::vector<SwitchLink> in, out;
  std::vector<uint16_t> request_to(e.num_stacks), reply_to(e.num_stacks), vault_to;
  const auto last = [&] { return static_cast<uint16_t>(out.size() - 1); };
  uint16_t in_port = 0, out_port = 0;
  in.push_back({tx_[k], in_port++});
  out.push_back({rx_[k], out_port++});
  for (uint32_t o = 0; o < e.num_stacks; ++o) {
    if (o == k) continue;
    in.push_back({cross_request_[o * e.num_stacks + k], in_port});
    in.push_back({cross_reply_[o * e.num_stacks + k], in_port++});
    out.push_back({cross_request_[k * e.num_stacks + o], out_port});
    request_to[o] = last();
    out.push_back({cross_reply_[k * e.num_stacks + o], out_port++});
    reply_to[o] = last();
  }
  for (uint32_t v = 0; v < e.vaults_per_stack; ++v) {
    const uint32_t endpoint = e.first_vault + k * e.vaults_per_stack + v;
    const auto request = channel(e.first_switch + k, endpoint, ChannelClass::kInStack, in_stack());
    const auto reply = channel(endpoint, e.first_switch + k, ChannelClass::kInStack, in_stack());
    in.push_back({reply, in_port++});
    out.push_back({request, out_port++});
    vault_to.push_back(last());
    make_vault_at(endpoint, k, v, request, reply);
  }
  uint16_t sm_to = kNoRoute;
  if (e.offloading) {
    in.push_back({stack_sm_out_[k], in_port++});
    out.push_back({stack_sm_in_[k], out_port++});
    sm_to = last();
  }
  const SwitchParams p = switch_params(m_.stack.switch_flit_bytes, e.first_switch + k);
  const SwitchState s = make_switch(s_.arena, p, in, out);
  for (uint32_t x = 0; x < e.count; ++x) {
    uint16_t request = kNoRoute, reply = kNoRoute;
    if (is_vault(x) || is_stack_sm(x)) {
      const uint32_t home = stack_of(x);
      if (home != k) {
        request = request_to[home];
        reply = reply_to[home];
      } else if (is_vault(x)) {
        request = vault_to[(x - e.first_vault) % e.vaults_per_stack];
      } else {
        request = reply = sm_to;
      }
    } else {
      reply = 0;  // everything else is on the GPU
    }
    set_route(p, s, s_.arena.base(), static_cast<uint16_t>(x), request, reply);
  }
  add_switch(e.first_switch + k, p, s, in, fmt::format("switch of stack {}", k));
}

void Assembly::make_vault_at(uint32_t endpoint, uint32_t stack, uint32_t vault, Ref<Channel> in,
                             Ref<Channel> out) {
  VaultParams p;
  const MachineConfig::Dram& d = m_.dram;
  p.period = period(m_.clocks.dram_mhz);
  p.tCL = d.tCL, p.tCWL = d.tCWL, p.tRCD = d.tRCD, p.tRP = d.tRP, p.tRAS = d.tRAS;
  p.tRC = d.tRC, p.tRRD = d.tRRD, p.tFAW = d.tFAW, p.tCCD = d.tCCD, p.tWR = d.tWR;
  p.tRRD_L = d.tRRD_L, p.tCCD_L = d.tCCD_L, p.tWTR_L = d.tWTR_L;
  p.in_order = d.scheduler == "fcfs" ? 1 : 0;
  p.closed_page = d.page_policy == "closed" ? 1 : 0;
  p.forward_writes = d.forward_writes ? 1 : 0;
  p.row_buffer_bits = static_cast<uint8_t>(log2_exact(d.row_buffers));
  p.group_shift = static_cast<uint8_t>(log2_exact(d.banks / d.bank_groups * d.row_buffers));
  p.tWTR = d.tWTR, p.tRTP = d.tRTP, p.tRTW = d.tRTW, p.tREFI = d.tREFI, p.tRFC = d.tRFC;
  const uint64_t g = std::gcd(s_.base_mhz, uint64_t{m_.stack.tsv_mbps});
  p.ticks_per_byte_num = static_cast<uint32_t>(s_.base_mhz / g);
  p.ticks_per_byte_den = static_cast<uint32_t>(m_.stack.tsv_mbps / g);
  p.starvation_cycles = d.starvation_cycles;
  p.fixed_latency_cycles = d.fixed_latency_cycles;
  p.read_entries = d.read_entries;
  p.write_entries = d.write_entries;
  p.write_high = d.write_high_watermark;
  p.write_low = d.write_low_watermark;
  p.header_bytes = static_cast<uint16_t>(m_.packets.header_bytes);
  p.line_bytes = static_cast<uint16_t>(m_.l1.line_bytes);
  p.sector_bytes = static_cast<uint16_t>(m_.packets.sector_bytes);
  p.endpoint = static_cast<uint16_t>(endpoint);
  p.map = s_.map;
  const uint32_t entries = std::min(d.queue_entries, d.read_entries + d.write_entries);
  const VaultState s = make_vault(s_.arena, p, d.banks, entries, in, out);
  add(endpoint, ComponentKind::kVault, p, s, std::vector<Ref<Channel>>{in},
      fmt::format("vault {} of stack {}", vault, stack));
}

}  // namespace nearwarp::sim
