// Makes topologies: how routers and terminals are wired, and the routes of packets.
#include "host/timing/noc/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "device/noc/network_state.h"
#include "host/config/nearest.h"
#include "host/core/error.h"

namespace nearwarp::noc {

namespace {

constexpr uint32_t kMaxTerminals = 4096;  ///< bounds the route tables

/// Read a size of `least` to `most` numbers, each at least 1, such as "AxB" or "A". Throws
/// UsageError.
std::vector<uint32_t> parse_size(const std::string& name, const std::string& text, size_t least,
                                 size_t most, const char* example) {
  std::vector<uint32_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  bool good = !text.empty();
  while (good) {
    uint32_t n = 0;
    const auto [next, error] = std::from_chars(at, end, n);
    if (error == std::errc::result_out_of_range || (error == std::errc() && n > kMaxTerminals))
      throw UsageError(
          fmt::format("`size` '{}' is too large - a network has at most {} terminals and routers",
                      text, kMaxTerminals));
    good = error == std::errc() && n >= 1;
    numbers.push_back(n);
    at = next;
    if (at == end) break;
    good = good && *at++ == 'x';
  }
  if (!good || numbers.size() < least || numbers.size() > most) {
    throw UsageError(fmt::format("`size` '{}' does not fit a {} - a size is written like {}", text,
                                 name, example));
  }
  return numbers;
}

void check_counts(uint64_t terminals, uint64_t ports, const std::string& size) {
  if (terminals > kMaxTerminals) {
    throw UsageError(
        fmt::format("`size` {} makes {} nodes - at most {}", size, terminals, kMaxTerminals));
  }
  if (ports > kMaxPorts) {
    throw UsageError(
        fmt::format("`size` {} makes routers of {} ports - at most {}", size, ports, kMaxPorts));
  }
}

void all_send_and_receive(Topology& t) {
  t.senders.resize(t.terminals.size());
  std::iota(t.senders.begin(), t.senders.end(), 0);
  t.receivers = t.senders;
}

// A mesh router has ports to its neighbours at x + 1, x - 1, y + 1 and y - 1, and to its terminal.
constexpr uint32_t kEast = 0, kWest = 1, kSouth = 2, kNorth = 3, kLocal = 4;

Topology make_mesh(const std::string& size, const std::string& routing) {
  const auto n = parse_size("mesh", size, 2, 2, "8x8");
  const uint32_t width = n[0], height = n[1];
  check_counts(uint64_t{width} * height, kLocal + 1, size);
  Topology t;
  t.width = width;
  t.height = height;
  t.routers = width * height;
  t.inputs = t.outputs = kLocal + 1;
  for (uint32_t r = 0; r < t.routers; ++r) {
    // A flit that leaves by the east port arrives at the west port of the next router, and so on.
    if (r % width + 1 < width) {
      t.wires.push_back({r, kEast, r + 1, kWest});
      t.wires.push_back({r + 1, kWest, r, kEast});
    }
    if (r / width + 1 < height) {
      t.wires.push_back({r, kSouth, r + width, kNorth});
      t.wires.push_back({r + width, kNorth, r, kSouth});
    }
    t.terminals.push_back({r, kLocal, r, kLocal});
  }
  const bool x_first = routing == "xy";
  for (uint32_t r = 0; r < t.routers; ++r) {
    for (uint32_t d = 0; d < t.routers; ++d) {
      const uint32_t x = r % width, y = r / width, to_x = d % width, to_y = d / width;
      const uint32_t in_x = to_x > x ? kEast : kWest, in_y = to_y > y ? kSouth : kNorth;
      uint32_t port = kLocal;
      if (x != to_x && (x_first || y == to_y)) {
        port = in_x;
      } else if (y != to_y) {
        port = in_y;
      }
      t.routes.push_back(static_cast<uint8_t>(port));
    }
  }
  all_send_and_receive(t);
  return t;
}

/// A crossbar is one router. Terminals 0 to in - 1 send; the terminals after them receive or, if
/// `size` is one number, the same terminals do.
Topology make_crossbar(const std::string& size) {
  const auto n = parse_size("crossbar", size, 1, 2, "16 or 56x8");
  const uint32_t in = n[0], out = n.back();
  const uint32_t count = n.size() == 1 ? in : in + out;
  check_counts(count, std::max(in, out), size);
  Topology t;
  t.routers = 1;
  t.inputs = in;
  t.outputs = out;
  for (uint32_t i = 0; i < count; ++i) {
    const bool sends = i < in;
    const bool receives = n.size() == 1 || !sends;
    const uint32_t out_port = n.size() == 1 ? i : i - in;
    t.terminals.push_back(
        {sends ? 0 : kNoRouter, i, receives ? 0 : kNoRouter, receives ? out_port : 0});
    if (sends) t.senders.push_back(i);
    if (receives) t.receivers.push_back(i);
    t.routes.push_back(static_cast<uint8_t>(receives ? out_port : 0));
  }
  return t;
}

/// A butterfly is a k-ary n-fly (Dally & Towles, "Principles and Practices of Interconnection
/// Networks", chapter 4): stage s routes by digit n - 1 - s of the destination.
Topology make_butterfly(const std::string& size) {
  const auto n = parse_size("butterfly", size, 2, 2, "4x3 (a 4-ary 3-fly)");
  const uint32_t k = n[0], stages = n[1];
  uint64_t nodes = 1;
  for (uint32_t s = 0; s < stages && nodes <= kMaxTerminals; ++s) nodes *= k;
  check_counts(nodes, k, size);
  if (k < 2)
    throw UsageError(fmt::format("`size` {}: a butterfly needs a radix of at least 2", size));
  const auto count = static_cast<uint32_t>(nodes);
  const uint32_t per_stage = count / k;
  Topology t;
  t.routers = per_stage * stages;
  t.inputs = t.outputs = k;
  uint32_t digit = per_stage;  // weight of the digit that a stage chooses
  for (uint32_t s = 0; s < stages; ++s, digit /= k) {
    for (uint32_t a = 0; a < per_stage; ++a) {
      const uint32_t router = s * per_stage + a;
      for (uint32_t port = 0; port < k; ++port) {
        if (s + 1 < stages) {
          // This is wire a * k + port. Its number with two digits exchanged, the last one and the
          // one that the next stage routes by, gives the router and the port that it leads to.
          const uint32_t weight = digit / k;
          const uint32_t swapped = a / weight % k;
          t.wires.push_back(
              {router, port, router + per_stage + port * weight - swapped * weight, swapped});
        }
      }
      for (uint32_t d = 0; d < count; ++d) {
        t.routes.push_back(static_cast<uint8_t>(d / digit % k));
      }
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    t.terminals.push_back({i / k, i % k, (stages - 1) * per_stage + i / k, i % k});
  }
  all_send_and_receive(t);
  return t;
}

/// A full network has a router per terminal, and a link between every two routers.
Topology make_full(const std::string& size) {
  const uint32_t n = parse_size("full network", size, 1, 1, "16")[0];
  check_counts(n, n, size);
  Topology t;
  t.routers = n;
  t.inputs = t.outputs = n;  // port i leads to router i, port r of router r to its terminal
  for (uint32_t r = 0; r < n; ++r) {
    for (uint32_t d = 0; d < n; ++d) {
      if (d != r) t.wires.push_back({r, d, d, r});
      t.routes.push_back(static_cast<uint8_t>(d));
    }
    t.terminals.push_back({r, r, r, r});
  }
  all_send_and_receive(t);
  return t;
}

}  // namespace

const std::vector<std::string>& topology_names() {
  static const std::vector<std::string> names{"mesh", "crossbar", "butterfly", "full"};
  return names;
}

void check_switch_inputs(const Topology& t, uint32_t input_speedup, const char* option) {
  const uint64_t inputs = uint64_t{t.inputs} * input_speedup;
  if (inputs > kMaxPorts) {
    throw UsageError(
        fmt::format("{} {} makes {} inputs of the switch in routers of {} input ports ({} {}) - at "
                    "most {}",
                    option, input_speedup, inputs, t.inputs, t.name, t.size, kMaxPorts));
  }
}

Topology make_topology(const std::string& name, const std::string& size,
                       const std::string& routing) {
  if (routing != "xy" && routing != "yx") {
    throw UsageError(
        fmt::format("unknown routing '{}'{}", routing, config::suggestion(routing, {"xy", "yx"})));
  }
  Topology t;
  if (name == "mesh") {
    t = make_mesh(size, routing);
  } else if (name == "crossbar") {
    t = make_crossbar(size);
  } else if (name == "butterfly") {
    t = make_butterfly(size);
  } else if (name == "full") {
    t = make_full(size);
  } else {
    throw UsageError(
        fmt::format("unknown topology '{}'{}", name, config::suggestion(name, topology_names())));
  }
  if (name != "mesh" && routing != "xy") {
    throw UsageError(
        fmt::format("`routing` {} is for meshes - a {} has one way only", routing, name));
  }
  t.name = name;
  t.size = size;
  return t;
}

}  // namespace nearwarp::noc
