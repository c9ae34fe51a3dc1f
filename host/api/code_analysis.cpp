// Analyses of code: offloading candidates, strides, chains, locations.
#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "host/api/code_json.h"
#include "host/api/failure.h"
#include "host/api/nearwarp/analysis.h"
#include "host/api/programs.h"
#include "host/config/nearest.h"
#include "host/mechanisms/coda/pass/strides.h"
#include "host/mechanisms/mpu/pass/locations.h"
#include "host/mechanisms/mpu/readings.h"
#include "host/mechanisms/mpu/settings.h"
#include "host/mechanisms/opportunistic/pass/chains.h"
#include "host/mechanisms/tom/offload_tables.h"
#include "host/mechanisms/tom/pass/print.h"
#include "host/mechanisms/tuning/restructure/restructure.h"

namespace nearwarp {
namespace {

compiler::Program compiled(const std::string& name) {
  if (const workloads::Workload* workload = workloads::find(name))
    return compiler::compile_ptx(workload->ptx(), workload->ptx_name());
  if (name.ends_with(".ptx") || name.find('/') != std::string::npos)
    return compiler::compile_ptx_file(name);
  return compiler::compile_ptx(workload_named(name).ptx(), name);  // says that there is none
}

/// Kernels, and what their program is called.
struct Code {
  std::string name;
  std::vector<std::shared_ptr<const compiler::Kernel>> kernels;
};

Code code_of(const std::string& name) {
  const auto program = std::make_shared<const compiler::Program>(compiled(name));
  Code code{name, {}};
  for (const compiler::Kernel& kernel : program->kernels)
    code.kernels.emplace_back(program, &kernel);
  return code;
}
Code code_of(const Program& program) {
  const runtime::Recording& recording = recording_with_code(program);
  return {program.name(), {recording.kernels.begin(), recording.kernels.end()}};
}

/// Calls f with the kernels that are wanted.
template <class F>
void each_kernel(const Code& code, const std::string& wanted, F&& f) {
  std::vector<std::string> names;
  bool any = false;
  for (const auto& kernel : code.kernels) {
    names.push_back(kernel->name);
    if (!wanted.empty() && kernel->name != wanted) continue;
    any = true;
    f(*kernel);
  }
  if (any) return;
  if (names.empty()) throw Error(fmt::format("'{}' has no kernel", code.name));
  throw Error(fmt::format("'{}' has no kernel '{}'{}", code.name, wanted,
                          config::suggestion(wanted, names)));
}

std::string cannot_be_run(const compiler::Kernel& kernel) {
  return fmt::format("kernel {}: cannot be run: {}\n", kernel.name, kernel.unsupported);
}

/// A view of each kernel that can be run, which `see` fills in.
template <class F>
Expected<std::vector<CodeView>> views(const std::string& name, const CodeOptions& options,
                                      F&& see) {
  return guarded([&] {
    std::vector<CodeView> all;
    each_kernel(code_of(name), options.kernel, [&](const compiler::Kernel& kernel) {
      CodeView& view = all.emplace_back();
      view.kernel = kernel.name;
      view.unsupported = kernel.unsupported;
      if (kernel.unsupported.empty())
        see(kernel, view);
      else
        view.text = cannot_be_run(kernel);
    });
    return all;
  });
}

void see_strides(const compiler::Kernel& kernel, CodeView& view) {
  const auto name = [&](compiler::Factor f) { return compiler::factor_name(kernel, f); };
  for (const compiler::ObjectStride& o :
       compiler::strides_of_objects(compiler::analyze_strides(kernel))) {
    const bool regular = o.pattern == compiler::AccessPattern::kRegular;
    view.objects.push_back({name(o.object), compiler::pattern_name(o.pattern),
                            regular ? o.block_bytes.text(name) : "", o.accesses});
  }
  view.text = compiler::format_strides(kernel);
}

void see_chains(const compiler::Kernel& kernel, CodeView& view) {
  const auto line = [&](compiler::InstrId i) { return kernel.instructions[i].ptx_line; };
  const opportunistic::Chains found = opportunistic::find_chains(kernel);
  for (const opportunistic::Chain& c : found.chains) {
    CodeChain& chain = view.chains.emplace_back();
    chain.ptx_line = line(c.instructions[0]);
    chain.pattern = c.pattern;
    for (const compiler::InstrId i : c.instructions) chain.lines.push_back(line(i));
  }
  for (const opportunistic::Refused& r : found.refused)
    view.chains.push_back({.ptx_line = line(r.at), .lines = {line(r.at)}, .why_not = r.reason});
  view.text = opportunistic::format_chains(kernel);
}

void see_places(const compiler::Kernel& kernel, const mpu::Readings& readings, size_t width,
                CodeView& view) {
  const mpu::Locations locations = mpu::annotate_locations(kernel, readings);
  for (compiler::InstrId i = 0; i < kernel.instructions.size(); ++i) {
    const mpu::Location at = mpu::executed_at(kernel, locations, i, readings);
    view.places.push_back({kernel.instructions[i].ptx_line, at == mpu::Location::kNear   ? "N"
                                                            : at == mpu::Location::kFar  ? "F"
                                                            : at == mpu::Location::kBoth ? "B"
                                                                                         : ""});
  }
  view.text = mpu::format_locations(kernel, readings, width);
}

std::vector<SourceLines> lines_of(const std::vector<compiler::SourceRange>& source) {
  std::vector<SourceLines> lines;
  for (const compiler::SourceRange& s : source) lines.push_back({s.file, s.first, s.last});
  return lines;
}

OffloadTraffic traffic_of(const compiler::OffloadTerms& t) {
  return {t.reg_tx, t.reg_rx, t.n_ld, t.n_st, t.shared_tx, t.shared_rx};
}

CodeCandidate candidate_of(const compiler::CandidateReport& c) {
  CodeCandidate one;
  one.id = c.id;
  one.within = c.within;
  one.kind = c.kind;
  one.blocks = c.blocks;
  one.source = lines_of(c.source);
  one.first_ptx_line = c.first_ptx_line;
  one.last_ptx_line = c.last_ptx_line;
  one.live_ins = c.live_ins;
  one.live_outs = c.live_outs;
  one.live_in_bytes = c.live_in_bytes;
  one.live_out_bytes = c.live_out_bytes;
  one.trip = c.trip;
  one.condition = c.condition;
  one.iterations = c.iterations;
  one.traffic = traffic_of(c.terms);
  one.per_iteration = traffic_of(c.per_iteration);
  // The reports' decimals are exact.
  one.tx_addresses = std::strtod(c.bw_tx.c_str(), nullptr);
  one.rx_addresses = std::strtod(c.bw_rx.c_str(), nullptr);
  one.saves_tx = c.saves_tx;
  one.saves_rx = c.saves_rx;
  one.shared = c.shared;
  return one;
}

CodeOfKernel kernel_of(const compiler::AnalysisReport& report) {
  CodeOfKernel code{report.kernel, "", {}, {}};
  for (const compiler::CandidateReport& c : report.candidates)
    code.candidates.push_back(candidate_of(c));
  for (const compiler::RefusalReport& r : report.refusals)
    code.refusals.push_back({r.kind, r.block, lines_of(r.source), r.first_ptx_line, r.last_ptx_line,
                             r.reason, r.ptx_line, r.detail});
  return code;
}

CodeAnalysis analyzed(const Code& code, const Machine& machine, const Policy& policy,
                      const CodeOptions& options) {
  compiler::OffloadModel model =
      tom::offload_model(Access::of(machine).config, Access::of(policy).config);
  CodeAnalysis all{code.name, machine.name(), policy.name(), {}, "", ""};
  each_kernel(code, options.kernel, [&](const compiler::Kernel& kernel) {
    if (!all.text.empty()) all.text += '\n';
    if (!kernel.unsupported.empty()) {
      all.kernels.push_back({kernel.name, kernel.unsupported, {}, {}});
      all.text += cannot_be_run(kernel);
      return;
    }
    model.shared.flat_blocks = compiler::reads_x_alone(kernel);
    const compiler::SelectionResult selected = compiler::analyze_offloading(kernel, model);
    all.kernels.push_back(kernel_of(compiler::report_analysis(kernel, selected)));
    all.text += compiler::format_analysis(kernel, selected, options.width);
  });
  all.document = code_document(all);
  return all;
}

}  // namespace

Expected<CodeAnalysis> analyze_code(const std::string& program, const Machine& machine,
                                    const Policy& policy, const CodeOptions& options) {
  return guarded([&] { return analyzed(code_of(program), machine, policy, options); });
}
Expected<CodeAnalysis> analyze_code(const Program& program, const Machine& machine,
                                    const Policy& policy, const CodeOptions& options) {
  return guarded([&] { return analyzed(code_of(program), machine, policy, options); });
}

Expected<std::vector<CodeView>> analyze_strides(const std::string& program,
                                                const CodeOptions& options) {
  return views(program, options, see_strides);
}
Expected<std::vector<CodeView>> analyze_chains(const std::string& program,
                                               const CodeOptions& options) {
  return views(program, options, see_chains);
}
Expected<std::vector<CodeView>> analyze_locations(const std::string& program, const Policy& policy,
                                                  const CodeOptions& options) {
  const Expected<mpu::Readings> readings = guarded([&] {
    const config::PolicyConfig& config = Access::of(policy).config;
    if (config::has_mechanism(config, "mpu") &&
        config.table<mpu::Settings>().locations != "annotated")
      throw UsageError(fmt::format(
          "policy '{}' does without the compiler's locations (mpu.locations = \"{}\") - "
          "take one that has them, such as mpu",
          config.name, config.table<mpu::Settings>().locations));
    return mpu::readings_of(config);
  });
  if (!readings) return readings.failure();
  return views(program, options, [&](const compiler::Kernel& kernel, CodeView& view) {
    see_places(kernel, *readings, options.width, view);
  });
}

Expected<std::string> restructure(const std::string& ptx, const std::string& name,
                                  const RestructureOptions& options) {
  return guarded([&] {
    return compiler::restructured(ptx, name,
                                  {.kernel = options.kernel,
                                   .parameter = options.parameter,
                                   .of_block = options.of_block,
                                   .no_alias = options.no_alias,
                                   .any_thread = options.any_thread});
  });
}

}  // namespace nearwarp
