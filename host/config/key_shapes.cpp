#include "host/config/key_shapes.h"

namespace nearwarp::config {

std::string_view shapes_of_key(std::string_view path) {
  struct Owners {
    std::string_view start, shapes;  // for paths that begin with `start`; the first match counts
  };
  static constexpr Owners kOwners[] = {
      {"gpu.sms_with_ndp", "stacked"},
      {"gpu.sms_per_cluster", "stacked discrete mesh"},
      {"gpu.gpcs", "discrete mesh"},
      {"gpu.sms_per_tpc", "discrete mesh"},
      {"lsu.remote_shared_bytes", "discrete mesh"},
      {"l2.at_launch", "stacks"},
      {"l2.link_", "discrete"},
      {"l2.atomics", "stacks"},
      {"l2.", "stacked discrete mesh stacks"},
      {"memory.local_memory", "discrete mesh"},
      {"interconnect.vc", "stacked discrete mesh stacks"},
      {"interconnect.split_packets", "stacked discrete mesh stacks"},
      {"interconnect.internal_speedup", "stacked discrete mesh stacks"},
      {"interconnect.input_speedup", "stacked discrete mesh stacks"},
      {"interconnect.wait_for_tail_credit", "stacked discrete mesh stacks"},
      {"interconnect.flit_by_flit", "stacked discrete mesh stacks"},
      {"interconnect.routing_delay_cycles", "stacked discrete mesh stacks"},
      {"interconnect.butterfly_radix", "stacked discrete mesh stacks"},
      {"links.gpu_to_memory_mbps", "stacked"},
      {"links.topology", "stacks"},
      {"links.", "stacked stacks near_bank"},
      {"stack.sm", "stacked"},
      {"stack.", "stacked stacks"},
      {"stack_sm.", "stacked"},
      {"partitions.", "discrete mesh"},
      {"mesh.", "mesh"},
      {"near_bank.", "near_bank"},
  };
  for (const Owners& o : kOwners)
    if (path.starts_with(o.start)) return o.shapes;
  return "";
}

}  // namespace nearwarp::config
