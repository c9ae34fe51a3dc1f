// Allocates physical registers by greedy colouring of the interference graph.
#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "host/functional/compiler/graph.h"
#include "host/functional/compiler/liveness.h"
#include "host/functional/compiler/visit.h"

namespace nearwarp::compiler {
namespace {

constexpr size_t kMaxEdges = size_t{1} << 23;  // larger graphs are allocated by a linear scan

// A set with constant-time insert, erase and iteration over its members.
class LiveSet {
 public:
  explicit LiveSet(const Kernel& kernel)
      : registers_(kernel.registers), position_(kernel.registers.size(), kNone) {}
  bool contains(RegId r) const { return position_[r] != kNone; }
  void insert(RegId r) {
    if (contains(r)) return;
    position_[r] = static_cast<uint32_t>(members_.size());
    members_.push_back(r);
    units_[is_predicate(registers_[r])] += units_of(registers_[r]);
  }
  void erase(RegId r) {
    if (!contains(r)) return;
    const RegId last = members_.back();
    members_[position_[r]] = last;
    position_[last] = position_[r];
    members_.pop_back();
    position_[r] = kNone;
    units_[is_predicate(registers_[r])] -= units_of(registers_[r]);
  }
  void assign(const std::vector<RegId>& ids) {
    for (const RegId r : members_) position_[r] = kNone;
    members_.clear();
    units_[0] = units_[1] = 0;
    for (const RegId r : ids) insert(r);
  }
  const std::vector<RegId>& members() const { return members_; }
  /// Number of physical registers that the members need.
  uint32_t units(bool predicates) const { return units_[predicates]; }

 private:
  const std::vector<Register>& registers_;
  std::vector<uint32_t> position_;
  std::vector<RegId> members_;
  uint32_t units_[2] = {0, 0};
};

// Number of units in use while `instr` executes: those of live registers, and of results that are
// never read.
uint32_t units_at(const Kernel& kernel, const Instruction& instr, const LiveSet& after,
                  bool predicates) {
  uint32_t units = after.units(predicates);
  for (size_t d = 0; d < instr.dsts.size(); ++d) {
    const RegId r = instr.dsts[d];
    const auto earlier = instr.dsts.begin() + static_cast<std::ptrdiff_t>(d);
    if (r == kNone || after.contains(r) || is_predicate(kernel.registers[r]) != predicates ||
        std::find(instr.dsts.begin(), earlier, r) != earlier) {
      continue;
    }
    units += units_of(kernel.registers[r]);
  }
  return units;
}

// Walks a block backwards; at(instr, live) sees the registers that are live after the instruction.
template <typename F>
void walk_backwards(const Kernel& kernel, BlockId b, LiveSet* live, F&& at) {
  live->assign(kernel.live_out[b]);
  const Block& block = kernel.blocks[b];
  for (InstrId i = block.first + block.count; i-- > block.first;) {
    const Instruction& instr = kernel.instructions[i];
    at(instr, *live);
    if (instr.guard == kNone) for_each_def(instr, [&](RegId r) { live->erase(r); });
    for_each_use(instr, [&](RegId r) { live->insert(r); });
  }
}

// Registers of both kinds in one graph; edges only within a kind.
struct Interference {
  std::vector<std::vector<RegId>> neighbours;  // with repetitions if a register is written often
  std::vector<RegId> used;  // in the order of first occurrence, blocks in reverse postorder
  bool complete = true;
  uint32_t pressure[2] = {0, 0};  // most units live at once: others, predicates
};

Interference build_interference(const Kernel& kernel) {
  Interference graph;
  graph.neighbours.resize(kernel.registers.size());
  size_t edges = 0;
  const auto connect = [&](RegId a, RegId b) {
    if (a == b || is_predicate(kernel.registers[a]) != is_predicate(kernel.registers[b])) return;
    graph.neighbours[a].push_back(b);
    graph.neighbours[b].push_back(a);
    ++edges;
  };
  std::vector<bool> seen(kernel.registers.size(), false);
  const auto occur = [&](RegId r) {
    if (!seen[r]) graph.used.push_back(r);
    seen[r] = true;
  };
  // Registers that are live into the kernel (read before they are written) count as defined there.
  const std::vector<RegId>& entry = kernel.live_in[0];
  for (size_t i = 0; i < entry.size(); ++i) {
    occur(entry[i]);
    for (size_t k = 0; k < i && edges <= kMaxEdges; ++k) connect(entry[i], entry[k]);
  }
  Graph flow;
  for (const Block& block : kernel.blocks) flow.push_back(block.successors);
  LiveSet live(kernel);
  for (const BlockId b : reverse_postorder(flow)) {
    const Block& block = kernel.blocks[b];
    for (InstrId i = block.first; i < block.first + block.count; ++i) {
      for_each_use(kernel.instructions[i], occur);
      for_each_def(kernel.instructions[i], occur);
    }
    if (!graph.complete) continue;
    walk_backwards(kernel, b, &live, [&](const Instruction& instr, const LiveSet& after) {
      if (edges > kMaxEdges) return;  // one block alone may have too many by far
      for (const bool kind : {false, true}) {
        const uint32_t units = units_at(kernel, instr, after, kind);
        graph.pressure[kind] = std::max(graph.pressure[kind], units);
      }
      for (size_t d = 0; d < instr.dsts.size(); ++d) {
        if (instr.dsts[d] == kNone) continue;
        for (const RegId r : after.members()) connect(instr.dsts[d], r);
        for (size_t e = 0; e < d; ++e) {
          if (instr.dsts[e] != kNone) connect(instr.dsts[d], instr.dsts[e]);
        }
      }
    });
    if (edges > kMaxEdges) {
      graph.complete = false;
      graph.neighbours.clear();
      graph.neighbours.shrink_to_fit();
    }
  }
  return graph;
}

// First fit in the given order. Returns the number of units taken.
uint32_t colour(const Kernel& kernel, const Interference& graph, const std::vector<RegId>& order,
                std::vector<uint32_t>* physical) {
  physical->assign(kernel.registers.size(), kNone);
  std::vector<uint32_t> busy;  // by unit, the last register (plus one) for which it was busy
  uint32_t count = 0;
  for (const RegId r : order) {
    const uint32_t stamp = r + 1;
    for (const RegId n : graph.neighbours[r]) {
      const uint32_t p = (*physical)[n];
      if (p == kNone) continue;
      const uint32_t end = p + units_of(kernel.registers[n]);
      if (busy.size() < end) busy.resize(end + 64, 0);
      for (uint32_t u = p; u < end; ++u) busy[u] = stamp;
    }
    const uint32_t units = units_of(kernel.registers[r]);
    const auto is_free = [&](uint32_t u) { return u >= busy.size() || busy[u] != stamp; };
    uint32_t p = 0;
    while (!is_free(p) || (units == 2 && !is_free(p + 1))) p += units;
    (*physical)[r] = p;
    count = std::max(count, p + units);
  }
  return count;
}

// Smallest-last order (Matula and Beck, 1983): repeatedly remove a register of least weighted
// degree; colour in the reverse order of removal.
std::vector<RegId> smallest_last(const Kernel& kernel, const Interference& graph,
                                 const std::vector<RegId>& nodes) {
  std::vector<uint32_t> degree(kernel.registers.size(), 0);
  std::vector<bool> present(kernel.registers.size(), false);
  uint32_t largest = 0;
  for (const RegId r : nodes) {
    present[r] = true;
    for (const RegId n : graph.neighbours[r]) degree[r] += units_of(kernel.registers[n]);
    largest = std::max(largest, degree[r]);
  }
  std::vector<std::vector<RegId>> buckets(largest + 1);
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) buckets[degree[*it]].push_back(*it);
  std::vector<RegId> order;
  order.reserve(nodes.size());
  for (uint32_t level = 0; order.size() < nodes.size();) {
    if (buckets[level].empty()) {
      ++level;
      continue;
    }
    const RegId r = buckets[level].back();
    buckets[level].pop_back();
    if (!present[r] || degree[r] != level) continue;  // an old entry
    present[r] = false;
    order.push_back(r);
    for (const RegId n : graph.neighbours[r]) {
      if (!present[n]) continue;
      degree[n] -= units_of(kernel.registers[r]);
      buckets[degree[n]].push_back(n);
      level = std::min(level, degree[n]);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<RegId> pairs_first(const Kernel& kernel, std::vector<RegId> order) {
  std::stable_partition(order.begin(), order.end(),
                        [&](RegId r) { return units_of(kernel.registers[r]) == 2; });
  return order;
}

// First-fit allocation of physical registers for intervals of time.
class UnitsInTime {
 public:
  // Frees units whose use ends before `now`, which must not decrease between calls.
  void release_before(uint64_t now) {
    while (!busy_.empty() && busy_.top().first < now) {
      release(busy_.top().second);
      busy_.pop();
    }
  }

  // Takes the first free unit, or the first free pair that begins at an even unit.
  uint32_t take(uint32_t units, uint64_t until) {
    const std::set<uint32_t>& fit = units == 2 ? free_pairs_ : free_;
    const uint32_t first = fit.empty() ? (count_ + units - 1) / units * units : *fit.begin();
    while (count_ < first + units) release(count_++);
    for (uint32_t u = first; u < first + units; ++u) {
      free_.erase(u);
      free_pairs_.erase(u / 2 * 2);
      busy_.emplace(until, u);
    }
    return first;
  }

  // Number of units in existence, which are all that were ever in use.
  uint32_t count() const { return count_; }

 private:
  bool is_free(uint32_t u) const { return u >= count_ || free_.contains(u); }

  void release(uint32_t u) {
    free_.insert(u);
    if (is_free(u ^ 1)) free_pairs_.insert(u / 2 * 2);
  }

  using Busy = std::pair<uint64_t, uint32_t>;  // end of use, unit
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy_;
  std::set<uint32_t> free_;        // free units among those in existence
  std::set<uint32_t> free_pairs_;  // even free units whose successor is free or does not exist yet
  uint32_t count_ = 0;
};

// Linear scan over the textual order for kernels whose interference graph would be too large.
uint32_t linear_scan(const Kernel& kernel, const std::vector<RegId>& nodes,
                     std::vector<uint32_t>* physical) {
  constexpr uint64_t kNever = ~uint64_t{0};
  std::vector<uint64_t> begin(kernel.registers.size(), kNever), end(kernel.registers.size(), 0);
  const auto touch = [&](RegId r, uint64_t at) {
    begin[r] = std::min(begin[r], at);
    end[r] = std::max(end[r], at);
  };
  // Reads happen at 2i + 1, writes at 2i + 2; so a source may end where a destination begins.
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    const Block& block = kernel.blocks[b];
    for (const RegId r : kernel.live_in[b]) touch(r, uint64_t{2} * block.first);
    for (const RegId r : kernel.live_out[b]) {
      touch(r, uint64_t{2} * (block.first + block.count) + 1);
    }
    for (InstrId i = block.first; i < block.first + block.count; ++i) {
      for_each_use(kernel.instructions[i], [&](RegId r) { touch(r, uint64_t{2} * i + 1); });
      for_each_def(kernel.instructions[i], [&](RegId r) { touch(r, uint64_t{2} * i + 2); });
    }
  }
  std::vector<RegId> order = nodes;
  std::stable_sort(order.begin(), order.end(),
                   [&](RegId a, RegId b) { return begin[a] < begin[b]; });
  UnitsInTime units;
  for (const RegId r : order) {
    units.release_before(begin[r]);
    (*physical)[r] = units.take(units_of(kernel.registers[r]), end[r]);
  }
  return units.count();
}

// Allocates `nodes`, which need no more than `bound` units if they are all of their kind.
uint32_t allocate_nodes(const Kernel& kernel, const Interference& graph,
                        const std::vector<RegId>& nodes, uint32_t bound,
                        std::vector<uint32_t>* physical) {
  std::vector<uint32_t> best(kernel.registers.size(), kNone);
  uint32_t best_count = kNone;
  if (!graph.complete) {
    best_count = linear_scan(kernel, nodes, &best);
  } else {
    // The order of first occurrence along dominance is optimal for registers that are written once;
    // smallest-last is better for variables of loops; pairs first avoids holes. The pressure is a
    // lower bound, so an order that reaches it ends the search.
    std::vector<RegId> small;
    std::vector<uint32_t> attempted;
    for (int attempt = 0; attempt < 4 && best_count != bound; ++attempt) {
      if (attempt == 1) small = smallest_last(kernel, graph, nodes);
      const std::vector<RegId>& base = attempt == 1 || attempt == 3 ? small : nodes;
      const std::vector<RegId> order = attempt < 2 ? base : pairs_first(kernel, base);
      const uint32_t count = colour(kernel, graph, order, &attempted);
      if (best_count == kNone || count < best_count) {
        best_count = count;
        best = attempted;
      }
    }
  }
  for (const RegId r : nodes) (*physical)[r] = best[r];
  return best_count;
}

uint32_t allocate_kind(Kernel* kernel, const Interference& graph, bool predicates) {
  std::vector<RegId> nodes;
  for (const RegId r : graph.used) {
    if (is_predicate(kernel->registers[r]) == predicates) nodes.push_back(r);
  }
  std::vector<uint32_t> physical(kernel->registers.size(), kNone);
  const uint32_t count =
      allocate_nodes(*kernel, graph, nodes, graph.pressure[predicates], &physical);
  for (const RegId r : nodes) kernel->registers[r].physical = physical[r];
  return count;
}

}  // namespace

void allocate_registers(Kernel* kernel) {
  const Interference graph = build_interference(*kernel);
  kernel->num_physical = allocate_kind(kernel, graph, false);
  kernel->num_predicates = allocate_kind(kernel, graph, true);
}

ApartAllocation allocate_apart(const Kernel& kernel, const std::vector<uint8_t>& group,
                               uint32_t groups) {
  const Interference graph = build_interference(kernel);
  ApartAllocation out;
  out.physical.assign(kernel.registers.size(), kNone);
  for (const bool predicates : {false, true}) {
    uint32_t first = 0;
    for (uint32_t k = 0; k < groups; ++k) {
      std::vector<RegId> nodes;
      for (const RegId r : graph.used)
        if (group[r] == k && is_predicate(kernel.registers[r]) == predicates) nodes.push_back(r);
      // The pressure of a group of registers is not known; a bound of 0 never ends the search
      // early.
      const uint32_t count = allocate_nodes(kernel, graph, nodes, 0, &out.physical);
      for (const RegId r : nodes) out.physical[r] += first;
      (predicates ? out.predicates : out.registers).push_back(count);
      first += count;
    }
  }
  return out;
}

uint32_t register_pressure(const Kernel& kernel) {
  uint32_t pressure = 0;
  LiveSet live(kernel);
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    walk_backwards(kernel, b, &live, [&](const Instruction& instr, const LiveSet& after) {
      pressure = std::max(pressure, units_at(kernel, instr, after, false));
    });
    pressure = std::max(pressure, live.units(false));
  }
  return pressure;
}

}  // namespace nearwarp::compiler
