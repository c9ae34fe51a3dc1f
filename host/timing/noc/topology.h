// Topologies: how routers and terminals are wired, and the routes of packets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nearwarp::noc {

/// One direction of a wire between two ports.
struct Wire {
  uint32_t from = 0, from_port = 0;
  uint32_t to = 0, to_port = 0;
};

/// For Attachment: the terminal only sends, or only receives.
inline constexpr uint32_t kNoRouter = 0xffffffffu;

/// Where a terminal is attached: its flits enter at one router and leave at one.
struct Attachment {
  uint32_t in_router = 0, in_port = 0;
  uint32_t out_router = 0, out_port = 0;
};

/// A topology with its routing. Terminals may be of two kinds, senders and receivers (crossbar).
struct Topology {
  std::string name, size;  ///< as the user wrote them
  uint32_t routers = 0;
  uint32_t inputs = 0, outputs = 0;  ///< ports of every router
  std::vector<Wire> wires;
  std::vector<Attachment> terminals;
  std::vector<uint8_t> routes;               ///< [router * terminals + destination]: output port
  std::vector<uint32_t> senders, receivers;  ///< terminals that send, and that receive
  uint32_t width = 0, height = 0;            ///< routers of a mesh; 0: it is none
};

/// The names of topologies that make_topology() knows.
const std::vector<std::string>& topology_names();

/// Throw UsageError if the switch of a router has too many inputs, `input_speedup` of them per
/// port. `option` is the name of the option or key that sets the speed-up.
void check_switch_inputs(const Topology& topology, uint32_t input_speedup, const char* option);

/// Make a topology. `name` and `size`: mesh WIDTHxHEIGHT (terminal y * width + x), crossbar INxOUT
/// or N, butterfly KxN (k-ary n-fly), full N (a router per terminal, a link between any two).
/// `routing`: xy or yx, for meshes. Throws UsageError.
Topology make_topology(const std::string& name, const std::string& size,
                       const std::string& routing);

}  // namespace nearwarp::noc
