#include "host/mechanisms/opportunistic/chain_tables.h"

#include <algorithm>
#include <optional>

namespace nearwarp::opportunistic {

namespace {

using compiler::InstrId;
using sim::ImageTables;

class Builder {
 public:
  Builder(const config::MachineConfig& machine, ImageTables& image, ChainTables& out)
      : machine_(machine), image_(image), out_(out) {}

  void add(uint32_t kernel, const Chain& c) {
    at_ = &image_.index_of[kernel];
    const std::optional<uint32_t> first = bring_together(c);
    if (!first || out_.chains.size() == kNoChain) return;
    OffloadChain chain;
    chain.instructions = static_cast<uint8_t>(issued(c.instructions).size());
    chain.loads = static_cast<uint8_t>(c.loads.size());
    chain.alu = static_cast<uint8_t>(c.alu.size());
    chain.pattern = c.pattern;
    chain.stores = c.store != compiler::kNone;
    chain.keeps_result = c.response != Response::kAck;
    chain.lane_words = c.response == Response::kData;
    chain.reply_bytes = c.response == Response::kBitmap ? kBitmapBytes : 0;
    for (const InstrId i : c.alu) chain.latency_cycles += image_.instrs[(*at_)[i]].latency;
    if (c.splits_fma) {
      const config::MachineConfig::Classes& classes = machine_.classes;
      chain.latency_cycles = static_cast<uint16_t>(classes.fp32_mul.latency_cycles);
      chain.sum_cycles = static_cast<uint16_t>(classes.fp32_add.latency_cycles);
    }
    out_.chain_of[*first] = static_cast<uint16_t>(out_.chains.size());
    out_.chains.push_back(chain);
    out_.sources.push_back({kernel, c});
  }

 private:
  /// Indices in the image of those of the instructions that the machine issues.
  std::vector<uint32_t> issued(const std::vector<InstrId>& instructions) const {
    std::vector<uint32_t> list;
    for (const InstrId i : instructions)
      if ((*at_)[i] != ImageTables::kNotIssued) list.push_back((*at_)[i]);
    return list;
  }

  /// Reorder the image. Returns the chain's first instruction there; none if an instruction that
  /// would have to move leaves a record in the traces.
  std::optional<uint32_t> bring_together(const Chain& c) {
    std::vector<uint32_t> order = issued(c.hoisted);
    const size_t before = order.size();
    const std::vector<uint32_t> chain = issued(c.instructions), after = issued(c.sunk);
    order.insert(order.end(), chain.begin(), chain.end());
    order.insert(order.end(), after.begin(), after.end());
    for (size_t i = 0; i < order.size(); ++i)
      if ((i < before || i >= before + chain.size()) &&
          (image_.instrs[order[i]].flags & sm::kHasRecord) != 0)
        return {};
    const uint32_t first = *std::min_element(order.begin(), order.end());
    std::vector<sm::ImageInstr> moved;
    for (const uint32_t from : order) moved.push_back(image_.instrs[from]);
    std::copy(moved.begin(), moved.end(), image_.instrs.begin() + first);
    for (uint32_t& at : *at_) {
      const auto place = std::find(order.begin(), order.end(), at);
      if (place != order.end()) at = first + static_cast<uint32_t>(place - order.begin());
    }
    return first + static_cast<uint32_t>(before);
  }

  const config::MachineConfig& machine_;
  ImageTables& image_;
  ChainTables& out_;
  std::vector<uint32_t>* at_ = nullptr;  // of the kernel at hand: where its instructions are
};

}  // namespace

ChainTables build_chain_tables(const runtime::Recording& recording,
                               const config::MachineConfig& machine, ImageTables& image) {
  ChainTables tables;
  tables.chain_of.assign(image.instrs.size(), kNoChain);
  Builder builder(machine, image, tables);
  for (uint32_t k = 0; k < recording.kernels.size(); ++k)
    for (const Chain& c : find_chains(*recording.kernels[k]).chains) builder.add(k, c);
  return tables;
}

}  // namespace nearwarp::opportunistic
