// Computes the call graph, chooses functions to be called, and finds registers live across calls.
#include "host/functional/compiler/call_graph.h"

#include <algorithm>

#include "host/functional/compiler/graph.h"

namespace nearwarp::compiler {
namespace {

using ptx::Opcode;
using Kind = ptx::Operand::Kind;

uint64_t bytes_of(const ptx::Function& fn, const ptx::FormalParam& formal) {
  return formal.is_register ? size_of(fn.registers[formal.index].type)
                            : fn.variables[formal.index].size;
}

bool fits(const ptx::Function& caller, const ptx::Operand& actual, const ptx::Function& callee,
          const ptx::FormalParam& formal) {
  if (actual.kind != Kind::kVariable) return true;
  return caller.variables[actual.index].size == bytes_of(callee, formal);
}

}  // namespace

CallGraph::CallGraph(const ptx::Module& module) : module_(module) {
  const auto n = static_cast<uint32_t>(module.functions.size());
  std::vector<bool> taken(n, false);
  const auto take = [&](std::string_view name) {
    const auto it = module.names.find(name);
    if (it != module.names.end() && (it->second & ptx::kFunctionBit))
      taken[it->second & ~ptx::kFunctionBit] = true;
  };
  for (const ptx::VariableDecl& var : module.variables)
    for (const ptx::AddressInit& init : var.addresses) take(init.target);
  for (const ptx::Function& fn : module.functions)
    for (const ptx::Operand& op : fn.operands)
      if (op.kind == Kind::kName) take(op.name);
  for (uint32_t i = 0; i < n; ++i)
    if (taken[i] && module.functions[i].is_defined && !module.functions[i].is_entry)
      taken_.push_back(i);
  callees_.resize(n);
  Graph& graph = callees_;
  std::vector<bool> to_itself(n, false);
  for (uint32_t i = 0; i < n; ++i) {
    const ptx::Function& fn = module.functions[i];
    for (const ptx::Call& call : fn.calls) {
      if (call.target.kind == Kind::kName) {
        const auto it = module.names.find(call.target.name);
        if (it != module.names.end() && (it->second & ptx::kFunctionBit))
          graph[i].push_back(it->second & ~ptx::kFunctionBit);
      } else {
        const auto reached = candidates(fn, call);
        graph[i].insert(graph[i].end(), reached.begin(), reached.end());
      }
    }
    to_itself[i] = std::find(graph[i].begin(), graph[i].end(), i) != graph[i].end();
  }
  uint32_t count = 0;
  component_ = strong_components(graph, &count);
  std::vector<uint32_t> members(count, 0);
  for (const uint32_t c : component_) ++members[c];
  recursive_.resize(n);
  for (uint32_t i = 0; i < n; ++i) recursive_[i] = to_itself[i] || members[component_[i]] > 1;
}

namespace {

bool has_register_formals(const ptx::Function& fn) {
  const auto in_register = [](const ptx::FormalParam& formal) { return formal.is_register; };
  return std::any_of(fn.params.begin(), fn.params.end(), in_register) ||
         std::any_of(fn.returns.begin(), fn.returns.end(), in_register);
}

}  // namespace

std::vector<bool> CallGraph::called(uint32_t entry, uint64_t max_instructions) const {
  const auto n = static_cast<uint32_t>(callees_.size());
  constexpr uint64_t kMany = uint64_t{1}
                             << 30;  // counts saturate here, so that products do not overflow
  std::vector<uint32_t> callees_first(n);
  for (uint32_t i = 0; i < n; ++i) callees_first[i] = i;
  std::stable_sort(callees_first.begin(), callees_first.end(),
                   [&](uint32_t a, uint32_t b) { return component_[a] < component_[b]; });
  std::vector<bool> called = recursive_;
  std::vector<uint64_t> size(n), copies(n);
  while (true) {
    for (const uint32_t i : callees_first) {
      size[i] = module_.functions[i].instructions.size();
      for (const uint32_t callee : callees_[i])
        if (!called[callee]) size[i] = std::min(size[i] + size[callee], kMany);
    }
    std::fill(copies.begin(), copies.end(), 0);
    copies[entry] = 1;
    uint64_t all = 0;
    uint32_t best = kNone;
    const auto saves = [&](uint32_t i) { return (copies[i] - 1) * size[i]; };
    for (size_t k = n; k-- > 0;) {  // callers first, so that all callers of i are counted
      const uint32_t i = callees_first[k];
      if (copies[i] == 0) continue;
      if (i == entry || called[i]) {
        copies[i] = 1;
        all = std::min(all + size[i], kMany);
      } else if (copies[i] > 1 && !has_register_formals(module_.functions[i]) &&
                 (best == kNone || saves(i) > saves(best))) {
        best = i;
      }
      for (const uint32_t callee : callees_[i])
        copies[callee] = std::min(copies[callee] + copies[i], kMany);
    }
    if (all <= max_instructions || best == kNone) return called;
    called[best] = true;
  }
}

std::vector<uint32_t> CallGraph::candidates(const ptx::Function& caller,
                                            const ptx::Call& call) const {
  std::vector<uint32_t> found;
  const ptx::Operand* pool = caller.operands.data();
  for (const uint32_t index : taken_) {
    const ptx::Function& callee = module_.functions[index];
    bool ok = callee.params.size() == call.num_args && callee.returns.size() == call.num_returns;
    for (uint32_t i = 0; ok && i < call.num_args; ++i)
      ok = fits(caller, pool[call.first_arg + i], callee, callee.params[i]);
    for (uint32_t i = 0; ok && i < call.num_returns; ++i)
      ok = fits(caller, pool[call.first_return + i], callee, callee.returns[i]);
    if (ok) found.push_back(index);
  }
  return found;
}

namespace {

/// Calls f(register, is_destination) for every register operand of an instruction.
template <class F>
void for_each_register(const ptx::Function& fn, const ptx::Instruction& in, F f) {
  const auto visit = [&](const auto& self, const ptx::Operand& op, bool destination) -> void {
    switch (op.kind) {
      case Kind::kRegister:
        f(op.index, destination);
        break;
      case Kind::kVector:
      case Kind::kPair:
        for (uint32_t i = 0; i < op.count; ++i) self(self, fn.operands[op.index + i], destination);
        break;
      case Kind::kAddress:
        if (op.base == Kind::kRegister) f(op.index, false);
        break;
      default:
        break;
    }
  };
  if (in.guard != ptx::kNoIndex) f(in.guard, false);
  if (in.call != ptx::kNoIndex) {
    const ptx::Call& call = fn.calls[in.call];
    visit(visit, call.target, false);
    for (uint32_t i = 0; i < call.num_args; ++i)
      visit(visit, fn.operands[call.first_arg + i], false);
    for (uint32_t i = 0; i < call.num_returns; ++i)
      visit(visit, fn.operands[call.first_return + i], true);
    return;
  }
  size_t letter = 0;
  for (uint32_t i = 0; i < in.num_operands; ++i, ++letter) {
    if (letter < in.format.size() && in.format[letter] == '?') ++letter;
    const char c = letter < in.format.size() ? in.format[letter] : 'a';
    visit(visit, fn.operands[in.first_operand + i],
          std::string_view("DWIJEPQY").find(c) != std::string_view::npos);
  }
}

}  // namespace

std::vector<std::vector<uint32_t>> live_across_calls(const ptx::Function& fn) {
  const size_t n = fn.instructions.size(), words = (fn.registers.size() + 63) / 64;
  std::vector<uint64_t> live((n + 1) * words, 0);  // before each instruction
  std::vector<uint64_t> out(words);
  const auto flow_out = [&](size_t i) {
    const ptx::Instruction& in = fn.instructions[i];
    std::fill(out.begin(), out.end(), 0);
    const auto from = [&](size_t at) {
      for (size_t w = 0; w < words; ++w) out[w] |= live[at * words + w];
    };
    for (uint32_t k = 0; k < in.num_operands; ++k) {
      const ptx::Operand& op = fn.operands[in.first_operand + k];
      if (op.kind == Kind::kLabel) from(fn.labels[op.index].instruction);
      if (op.kind == Kind::kTable)
        for (const uint32_t label : fn.tables[op.index]) from(fn.labels[label].instruction);
    }
    const bool leaves = in.op == Opcode::kBra || in.op == Opcode::kBrx || in.op == Opcode::kRet ||
                        in.op == Opcode::kExit;
    if (!leaves || in.guard != ptx::kNoIndex) from(i + 1);
  };
  const auto bit = [](uint32_t r) { return uint64_t{1} << r % 64; };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = n; i-- > 0;) {
      const ptx::Instruction& in = fn.instructions[i];
      flow_out(i);
      if (in.guard == ptx::kNoIndex)
        for_each_register(fn, in, [&](uint32_t r, bool d) {
          if (d) out[r / 64] &= ~bit(r);
        });
      for_each_register(fn, in, [&](uint32_t r, bool d) {
        if (!d) out[r / 64] |= bit(r);
      });
      for (size_t w = 0; w < words; ++w) {
        changed = changed || out[w] != live[i * words + w];
        live[i * words + w] = out[w];
      }
    }
  }
  std::vector<std::vector<uint32_t>> result(fn.calls.size());
  for (size_t i = 0; i < n; ++i) {
    const ptx::Instruction& in = fn.instructions[i];
    if (in.call == ptx::kNoIndex) continue;
    flow_out(i);
    if (in.guard == ptx::kNoIndex)
      for_each_register(fn, in, [&](uint32_t r, bool d) {
        if (d) out[r / 64] &= ~bit(r);
      });
    for (uint32_t r = 0; r < fn.registers.size(); ++r)
      if (out[r / 64] & bit(r)) result[in.call].push_back(r);
  }
  return result;
}

}  // namespace nearwarp::compiler
