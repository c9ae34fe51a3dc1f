// compile_ptx: from PTX text to analysed kernels.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/core/error.h"
#include "host/core/limited_file.h"
#include "host/functional/compiler/graph.h"
#include "host/functional/compiler/kernel.h"
#include "host/functional/compiler/liveness.h"
#include "host/functional/compiler/lower.h"
#include "host/functional/ptx/lexer.h"

namespace nearwarp::compiler {
namespace {

using ptx::quoted;

void fill_params(const ptx::Module& module, const ptx::Function& entry, Kernel* kernel) {
  uint32_t end = 0;
  for (const ptx::FormalParam& formal : entry.params) {
    if (formal.is_register) {
      throw Error("a kernel with register parameters (" + module.path + ":" +
                  std::to_string(entry.line) + ") - kernel parameters are .param variables");
    }
    const ptx::VariableDecl& var = entry.variables[formal.index];
    Param param;
    param.name = std::string(var.name);
    param.type = var.type;
    param.align = std::max(var.align, 1u);
    param.size = static_cast<uint32_t>(var.size);
    param.offset = (end + param.align - 1) / param.align * param.align;
    end = param.offset + param.size;
    kernel->params.push_back(std::move(param));
    if (end > (1u << 16)) {
      throw Error("the parameters of a kernel take more than 64 KiB (" + module.path + ":" +
                  std::to_string(entry.line) + ")");
    }
  }
  kernel->param_bytes = end;
}

void analyse_blocks(Kernel* kernel) {
  const size_t n = kernel->blocks.size();
  Graph graph(n);
  std::vector<bool> exits(n, false), dead(n, false);
  for (BlockId b = 0; b < n; ++b) {
    const Block& block = kernel->blocks[b];
    graph[b] = block.successors;
    const Instruction& last = kernel->instructions[block.first + block.count - 1];
    exits[b] = last.op == ptx::Opcode::kRet || last.op == ptx::Opcode::kExit;
    dead[b] = last.op == ptx::Opcode::kTrap && last.guard == kNone;
  }
  const std::vector<uint32_t> idom = immediate_dominators(graph);
  for (BlockId b = 0; b < n; ++b) kernel->blocks[b].idom = idom[b];
  std::vector<uint32_t> innermost;
  kernel->loops = natural_loops(graph, idom, &innermost);
  for (BlockId b = 0; b < n; ++b) kernel->blocks[b].loop = innermost[b];

  // Blocks from which only a trap follows have no say in where the others meet again.
  std::vector<uint32_t> work;
  std::vector<uint32_t> alive_successors(n, 0);
  for (BlockId b = 0; b < n; ++b) {
    for (const BlockId s : graph[b]) alive_successors[b] += s != kNone;
    if (dead[b]) work.push_back(b);
  }
  while (!work.empty()) {
    const BlockId b = work.back();
    work.pop_back();
    for (const BlockId p : kernel->blocks[b].predecessors) {
      for (const BlockId s : graph[p]) alive_successors[p] -= s == b;
      if (alive_successors[p] == 0 && !exits[p] && !dead[p]) {
        dead[p] = true;
        work.push_back(p);
      }
    }
  }
  for (BlockId b = 0; b < n; ++b) {
    if (dead[b]) {
      graph[b].clear();
    } else {
      std::erase_if(graph[b], [&](BlockId s) { return dead[s]; });
    }
  }
  for (BlockId b = 0; b < n; ++b) {  // calls lead to what follows them
    const Instruction& last =
        kernel->instructions[kernel->blocks[b].first + kernel->blocks[b].count - 1];
    if (last.after_call != kNone && !dead[b]) graph[b] = {last.after_call};
    if (last.returns) {
      graph[b].clear();
      exits[b] = true;
    }
  }
  const std::vector<uint32_t> ipdom = immediate_postdominators(graph, exits);
  for (BlockId b = 0; b < n; ++b) kernel->blocks[b].ipdom = dead[b] ? kNone : ipdom[b];
}

Kernel compile_kernel(const ptx::Module& module, const ptx::Function& entry, bool module_allocates,
                      std::optional<CallGraph>* call_graph) {
  Kernel kernel;
  kernel.name = std::string(entry.name);
  kernel.code = std::string(module.target);
  kernel.bounds = entry.bounds;
  fill_params(module, entry, &kernel);
  try {
    FlatCode code = Lowering(module, entry, module_allocates, call_graph).run(&kernel);
    build_blocks(std::move(code), &kernel);
    analyse_blocks(&kernel);
    if (!compute_liveness(&kernel)) {
      throw Unsupported{"the kernel '" + kernel.name + "' is too large to analyse (" + module.path +
                        ":" + std::to_string(entry.line) + ") - split it"};
    }
    allocate_registers(&kernel);
    kernel.source_files = module.source_files;
  } catch (const Unsupported& reason) {
    Kernel refused;
    refused.name = kernel.name;
    refused.code = kernel.code;
    refused.bounds = kernel.bounds;
    refused.params = kernel.params;
    refused.param_bytes = kernel.param_bytes;
    refused.unsupported = reason.message;
    return refused;
  }
  return kernel;
}

Variable make_variable(const ptx::Module& module, const ptx::VariableDecl& decl) {
  Variable var;
  var.name = std::string(decl.name);
  var.space = decl.space;
  var.size = decl.size;
  var.align = std::max(decl.align, 1u);
  var.init = decl.init;
  for (const ptx::AddressInit& address : decl.addresses) {
    const auto it = module.names.find(address.target);
    if (it == module.names.end()) {
      throw Error("undeclared name " + quoted(address.target) + " in the initialiser of '" +
                  var.name + "' (" + module.path + ":" + std::to_string(decl.line) + ")");
    }
    if (it->second & ptx::kFunctionBit) {
      const uint64_t value =
          function_address(it->second & ~ptx::kFunctionBit) + static_cast<uint64_t>(address.addend);
      if (var.init.size() < var.size) var.init.resize(var.size);
      if (address.offset + sizeof(value) > var.init.size())
        throw Error("the initialiser of '" + var.name + "' is too short for an address (" +
                    module.path + ":" + std::to_string(decl.line) + ")");
      std::memcpy(var.init.data() + address.offset, &value, sizeof(value));
      continue;
    }
    var.relocations.push_back({address.offset, std::string(address.target), address.addend});
  }
  return var;
}

Program compile_module(const ptx::Module& module) {
  Program program;
  program.path = module.path;
  for (const ptx::VariableDecl& decl : module.variables) {
    const bool in_memory = decl.space == ptx::Space::kGlobal || decl.space == ptx::Space::kConst;
    if (!in_memory || decl.is_extern || decl.type == ptx::Type::kNone) continue;
    program.variables.push_back(make_variable(module, decl));
  }
  const bool module_allocates = std::ranges::any_of(module.functions, allocates);
  std::optional<CallGraph> call_graph;
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    const ptx::Function& function = module.functions[i];
    if (!function.is_entry || !function.is_defined) continue;
    program.kernels.push_back(compile_kernel(module, function, module_allocates, &call_graph));
    program.kernels.back().address = function_address(i);
  }
  return program;
}

}  // namespace

Program compile_ptx(const std::string& text, const std::string& path) {
  return compile_module(ptx::parse(text, path));
}

Program link_ptx(const std::vector<PtxSource>& sources) {
  std::vector<ptx::Module> modules;
  for (const PtxSource& source : sources) modules.push_back(ptx::parse(source.text, source.path));
  return compile_module(ptx::link(std::move(modules)));
}

Program compile_ptx_file(const std::string& path) {
  return compile_ptx(read_limited_file(path, "PTX"), path);
}

}  // namespace nearwarp::compiler
