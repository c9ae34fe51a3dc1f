// Joins modules into one, as a linker does.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "host/core/error.h"
#include "host/functional/ptx/lexer.h"
#include "host/functional/ptx/module.h"

namespace nearwarp::ptx {
namespace {

using Kind = Operand::Kind;

/// Other names for a module's own variables and functions that another module has too.
using Renames = std::map<std::string_view, std::string_view>;

void rename(std::string_view* name, const Renames& renames) {
  if (const auto it = renames.find(*name); it != renames.end()) *name = it->second;
}

void rename_all(Module* module, const Renames& renames) {
  if (renames.empty()) return;
  for (VariableDecl& var : module->variables) {
    rename(&var.name, renames);
    for (AddressInit& init : var.addresses) rename(&init.target, renames);
  }
  for (Function& fn : module->functions) {
    rename(&fn.name, renames);
    for (Operand& op : fn.operands)
      if (op.kind == Kind::kName || (op.kind == Kind::kAddress && op.base == Kind::kName))
        rename(&op.name, renames);
    for (Call& call : fn.calls)
      if (call.target.kind == Kind::kName) rename(&call.target.name, renames);
  }
}

/// Does only the variable's or the function's own module know it?
bool is_local(const VariableDecl& var) { return !var.is_visible && !var.is_extern; }
bool is_local(const Function& fn) { return !fn.is_visible && fn.is_defined && !fn.is_entry; }

class Linker {
 public:
  Module run(std::vector<Module> modules) {
    for (const Module& module : modules) {
      for (const VariableDecl& var : module.variables)
        if (!is_local(var)) shared_.insert(var.name);
      for (const Function& fn : module.functions)
        if (!is_local(fn)) shared_.insert(fn.name);
    }
    for (Module& module : modules) add(std::move(module));
    return std::move(out_);
  }

 private:
  void add(Module module) {
    ++count_;
    if (count_ == 1) {
      out_.version_major = module.version_major;
      out_.version_minor = module.version_minor;
      out_.target = module.target;
      out_.address_size = module.address_size;
    }
    out_.path += (count_ == 1 ? "" : "+") + module.path;
    const Renames renames = local_names(module);
    rename_all(&module, renames);
    const auto first_file = static_cast<uint32_t>(out_.source_files.size());
    out_.source_files.insert(out_.source_files.end(), module.source_files.begin(),
                             module.source_files.end());
    // Aliases: names of a module that are no function's own name.
    std::vector<std::pair<std::string_view, std::string_view>> aliases;
    for (const auto& [name, index] : module.names)
      if ((index & kFunctionBit) && !renames.contains(name) &&
          module.functions[index & ~kFunctionBit].name != name)
        aliases.emplace_back(name, module.functions[index & ~kFunctionBit].name);
    for (VariableDecl& var : module.variables) add_variable(std::move(var), module.path);
    for (Function& fn : module.functions) {
      for (Instruction& in : fn.instructions) {
        if (in.source_line != 0) in.source_file += first_file;
        if (in.caller_line != 0) in.caller_file += first_file;
      }
      add_function(std::move(fn), module.path);
    }
    for (const auto& [alias, target] : aliases)
      if (const auto it = out_.names.find(target); it != out_.names.end())
        add_alias(alias, it->second);
  }

  /// A declaration of the name, which comes before it, is of no other function.
  void add_alias(std::string_view alias, uint32_t function) {
    const auto [it, inserted] = out_.names.emplace(alias, function);
    const bool is_declared =
        (it->second & kFunctionBit) && !out_.functions[it->second & ~kFunctionBit].is_defined;
    if (!inserted && is_declared) it->second = function;
  }

  Renames local_names(const Module& module) {
    Renames renames;
    const auto consider = [&](std::string_view name, bool local) {
      if (!local || (!out_.names.contains(name) && !shared_.contains(name))) return;
      out_.own_names.push_back(std::string(name) + "@" + std::to_string(count_));
      renames.emplace(name, out_.own_names.back());
    };
    for (const VariableDecl& var : module.variables) consider(var.name, is_local(var));
    for (const Function& fn : module.functions) consider(fn.name, is_local(fn));
    return renames;
  }

  [[noreturn]] static void twice(std::string_view name, const std::string& path, uint32_t line) {
    throw Error(quoted(name) + " is defined in two modules (" + path + ":" + std::to_string(line) +
                ") - one definition, or weak ones");
  }

  void add_variable(VariableDecl var, const std::string& path) {
    const auto index = static_cast<uint32_t>(out_.variables.size());
    const auto [it, inserted] = out_.names.emplace(var.name, index);
    if (inserted) {
      out_.variables.push_back(std::move(var));
      return;
    }
    if (it->second & kFunctionBit) twice(var.name, path, var.line);
    VariableDecl& known = out_.variables[it->second];
    if (var.is_extern) return;
    if (known.is_extern || (known.is_weak && !var.is_weak)) {
      known = std::move(var);
    } else if (!var.is_weak) {
      twice(var.name, path, var.line);
    }
  }

  void add_function(Function fn, const std::string& path) {
    const auto index = static_cast<uint32_t>(out_.functions.size());
    const auto [it, inserted] = out_.names.emplace(fn.name, index | kFunctionBit);
    if (inserted) {
      out_.functions.push_back(std::move(fn));
      return;
    }
    if (!(it->second & kFunctionBit)) twice(fn.name, path, fn.line);
    Function& known = out_.functions[it->second & ~kFunctionBit];
    if (!fn.is_defined) return;
    if (!known.is_defined || (known.is_weak && !fn.is_weak)) {
      known = std::move(fn);
    } else if (!fn.is_weak) {
      twice(fn.name, path, fn.line);
    }
  }

  std::set<std::string_view> shared_;  ///< names that all modules know
  Module out_;
  uint32_t count_ = 0;
};

}  // namespace

Module link(std::vector<Module> modules) { return Linker().run(std::move(modules)); }

}  // namespace nearwarp::ptx
