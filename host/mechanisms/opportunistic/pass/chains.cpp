// Finds the chains of a kernel that can be offloaded, and the reasons against other loads.
#include "host/mechanisms/opportunistic/pass/chains.h"

#include <algorithm>
#include <array>
#include <map>

#include "host/mechanisms/opportunistic/pass/patterns.h"
#include "host/mechanisms/opportunistic/pass/reorder.h"
#include "host/mechanisms/opportunistic/pass/values.h"

namespace nearwarp::opportunistic {

namespace {

using compiler::InstrId;
using compiler::Kernel;

/// The order in which patterns are taken, the longest first: of two chains that share an
/// instruction the first one is kept.
constexpr std::array<uint8_t, 9> kOrder = {9, 8, 1, 7, 4, 2, 5, 6, 3};

bool is_global_load(const compiler::Instruction& in) {
  return in.op == ptx::Opcode::kLd && in.mod.space == ptx::Space::kGlobal;
}

class Finder {
 public:
  explicit Finder(const Kernel& kernel)
      : kernel_(kernel),
        values_(kernel),
        taken_(kernel.instructions.size(), false),
        moved_(taken_) {}

  Chains find() {
    for (compiler::BlockId b = 0; b < kernel_.blocks.size(); ++b) find_in(b);
    const auto by_place = [](const Chain& a, const Chain& b) {
      return a.instructions[0] < b.instructions[0];
    };
    std::sort(found_.chains.begin(), found_.chains.end(), by_place);
    for (InstrId i = 0; i < kernel_.instructions.size(); ++i)
      if (is_global_load(kernel_.instructions[i]) && !taken_[i])
        found_.refused.push_back({i, reason(i)});
    return std::move(found_);
  }

 private:
  void find_in(compiler::BlockId b) {
    const compiler::Block& block = kernel_.blocks[b];
    std::vector<Chain> candidates;
    for (InstrId i = block.first; i < block.first + block.count; ++i)
      if (std::optional<Chain> c = match_pattern(kernel_, values_, b, i))
        candidates.push_back(std::move(*c));
    for (const uint8_t pattern : kOrder)
      for (const Chain& c : candidates)
        if (c.pattern == pattern) take(c);
  }

  /// Keep a chain, unless it overlaps one that was kept before or its instructions cannot be moved
  /// together.
  void take(Chain c) {
    const InstrId first = c.instructions.front(), last = c.instructions.back();
    for (InstrId i = first; i <= last; ++i)
      if (taken_[i] || moved_[i]) {
        for (const InstrId load : c.loads) why_[load] = "a part of another chain lies in between";
        return;
      }
    const std::string refusal = bring_together(kernel_, c);
    if (!refusal.empty()) {
      for (const InstrId load : c.loads) why_[load] = refusal;
      return;
    }
    for (const InstrId i : c.instructions) taken_[i] = true;
    for (const InstrId i : c.hoisted) moved_[i] = true;
    for (const InstrId i : c.sunk) moved_[i] = true;
    found_.chains.push_back(std::move(c));
  }

  std::string reason(InstrId load) const {
    const std::string own = refuse_load(kernel_, values_, load);
    if (!own.empty()) return own;
    const auto it = why_.find(load);
    return it != why_.end() ? it->second : "what uses its value is none of the patterns";
  }

  const Kernel& kernel_;
  Values values_;
  std::vector<bool> taken_;  // by instruction: it is part of a chain
  std::vector<bool> moved_;  // by instruction: it was between those of a chain, and is moved
  std::map<InstrId, std::string> why_;
  Chains found_;
};

}  // namespace

Chains find_chains(const Kernel& kernel) { return Finder(kernel).find(); }

}  // namespace nearwarp::opportunistic
