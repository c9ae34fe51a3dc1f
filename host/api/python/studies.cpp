// The catalogue, analyses, comparisons and studies as lists of dicts, of which _studies.py makes
// pandas.DataFrames.
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "host/api/python/caller.h"

namespace nearwarp {
namespace {

using namespace py::literals;

/// Returns the value of work(ask), where `ask` passes an Activity to the Python function
/// `progress`.
template <class F>
auto asked(const py::object& progress, F work) {
  using Ask = std::function<bool(const Activity&)>;
  Caller caller;
  const Ask ask = [&](const Activity& a) {
    return caller.ask([&] { return wants_more(progress, a); });
  };
  return taken(watched(caller, [&] { return work(ask); }));
}

py::list entries_of(const std::string& kind) {
  py::list rows;
  for (const CatalogueEntry& entry : taken(without_lock([&] { return catalogue(kind); }))) {
    if (entry.stands_for_several) continue;
    py::dict parameters;
    for (const CatalogueEntry::Parameter& p : entry.parameters)
      parameters[py::str(p.name)] = p.range;
    rows.append(py::dict("name"_a = entry.name, "description"_a = entry.description,
                         "source"_a = entry.source, "parameters"_a = parameters,
                         "error"_a = entry.failure.has_value()
                                         ? py::object(py::str(entry.failure->message))
                                         : py::object(py::none())));
  }
  return rows;
}

std::string source_of(const std::vector<SourceLines>& lines) {
  std::string text;
  for (const SourceLines& l : lines) {
    text += (text.empty() ? "" : ", ") + l.file + ":" + std::to_string(l.first);
    if (l.last != l.first) text += "-" + std::to_string(l.last);
  }
  return text;
}

py::dict analysis_of(const std::variant<std::string, Program>& program, const Machine& machine,
                     const Policy& policy, const std::string& kernel) {
  const CodeAnalysis found = taken(without_lock([&] {
    return std::visit(
        [&](const auto& of) { return analyze_code(of, machine, policy, {.kernel = kernel}); },
        program);
  }));
  py::list candidates, refusals;
  for (const CodeOfKernel& k : found.kernels) {
    for (const CodeCandidate& c : k.candidates)
      candidates.append(py::dict(
          "kernel"_a = k.kernel, "id"_a = c.id, "kind"_a = c.kind, "source"_a = source_of(c.source),
          "first_ptx_line"_a = c.first_ptx_line, "last_ptx_line"_a = c.last_ptx_line,
          "live_in_bytes"_a = c.live_in_bytes, "live_out_bytes"_a = c.live_out_bytes,
          "loads"_a = c.traffic.loads, "stores"_a = c.traffic.stores, "trip"_a = c.trip,
          "iterations"_a = c.iterations, "tx_addresses"_a = c.tx_addresses,
          "rx_addresses"_a = c.rx_addresses, "condition"_a = c.condition));
    for (const CodeRefusal& r : k.refusals)
      refusals.append(
          py::dict("kernel"_a = k.kernel, "kind"_a = r.kind, "source"_a = source_of(r.source),
                   "first_ptx_line"_a = r.first_ptx_line, "last_ptx_line"_a = r.last_ptx_line,
                   "reason"_a = r.reason, "detail"_a = r.detail));
    if (!k.unsupported.empty())
      refusals.append(py::dict("kernel"_a = k.kernel, "kind"_a = "kernel", "source"_a = "",
                               "first_ptx_line"_a = 0, "last_ptx_line"_a = 0,
                               "reason"_a = "cannot be run: " + k.unsupported, "detail"_a = ""));
  }
  return py::dict("candidates"_a = candidates, "refusals"_a = refusals, "text"_a = found.text,
                  "document"_a = found.document);
}

py::dict quality_of(const MappingQuality& q, const MappingAnalysis& all) {
  const auto share = [](uint64_t part, uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  return py::dict("first_bit"_a = q.first_bit,
                  "at_destination"_a = share(q.at_destination, all.accesses),
                  "one_stack"_a = share(q.one_stack, all.instances));
}

py::dict mappings_of(const Program& program, const Machine& machine, const Policy& policy,
                     const py::object& progress) {
  const MappingAnalysis found = asked(progress, [&](const auto& ask) {
    return analyze_mappings(program, machine, policy, {.progress = ask});
  });
  py::list rows;
  rows.append(quality_of(found.baseline, found));
  for (const MappingQuality& q : found.mappings) rows.append(quality_of(q, found));
  return py::dict("rows"_a = rows, "text"_a = found.text, "document"_a = found.document);
}

py::dict sharing_of(const Program& program, const Machine& machine, const py::object& progress) {
  const SharingAnalysis found = asked(progress, [&](const auto& ask) {
    return analyze_sharing(program, machine, {.progress = ask});
  });
  py::list rows;
  for (const auto& [blocks, pages] : found.by_blocks)
    rows.append(py::dict("by"_a = "thread blocks", "count"_a = blocks, "pages"_a = pages));
  for (const auto& [stacks, pages] : found.by_stacks)
    rows.append(py::dict("by"_a = "stacks", "count"_a = stacks, "pages"_a = pages));
  return py::dict("rows"_a = rows, "text"_a = taken(found.text()), "document"_a = found.document);
}

py::dict objects_of(const Program& program, const Machine& machine, const Policy& policy,
                    const py::object& progress) {
  const ObjectAnalysis found = asked(progress, [&](const auto& ask) {
    return analyze_objects(program, machine, policy, {.progress = ask});
  });
  py::list rows;
  for (const ObjectPlace& o : found.objects)
    rows.append(py::dict("name"_a = o.name, "address"_a = o.address, "bytes"_a = o.bytes,
                         "accesses"_a = o.accesses, "block_bytes"_a = o.block_bytes,
                         "local"_a = o.local, "by_distance"_a = o.by_distance,
                         "by_share"_a = o.by_share));
  return py::dict("rows"_a = rows, "text"_a = taken(found.text()), "document"_a = found.document);
}

/// One side of a comparison: the path of a file, or results.
using Compared = std::variant<std::string, std::vector<Result>>;

py::dict comparison_of(const Compared& first, const Compared& second) {
  if (first.index() != second.index())
    throw py::type_error("results are compared with results, and files with files");
  const Comparison found = taken(without_lock([&] {
    if (const auto* file = std::get_if<std::string>(&first); file != nullptr)
      return compare_results(*file, std::get<std::string>(second));
    using Results = std::vector<Result>;
    return compare_results(std::get<Results>(first), std::get<Results>(second));
  }));
  py::list rows;
  for (const RunComparison& run : found.runs)
    for (const ValueChange& c : run.changes)
      rows.append(py::dict("run"_a = run.title, "value"_a = c.name, "unit"_a = c.unit,
                           "before"_a = c.before, "after"_a = c.after, "change"_a = c.relative(),
                           "weight"_a = c.weight));
  return py::dict("rows"_a = rows, "text"_a = taken(without_lock([&] { return found.text(); })),
                  "document"_a = found.document);
}

py::dict probe_of(const Machine& machine, unsigned threads, const py::object& progress) {
  const ProbeReport found = asked(progress, [&](const auto& ask) {
    return probe_machine(machine, {.threads = threads, .progress = ask});
  });
  py::list rows;
  for (const ProbeSection& s : found.sections)
    for (const ProbeValue& v : s.values)
      if (v.measured)
        rows.append(py::dict(
            "section"_a = s.title, "name"_a = v.name,
            "core_cycles"_a = s.latencies ? py::object(py::float_(v.core_cycles)) : py::none(),
            "nanoseconds"_a = s.latencies ? py::object(py::float_(v.nanoseconds)) : py::none(),
            "gigabytes_per_second"_a =
                s.latencies ? py::none() : py::object(py::float_(v.gigabytes_per_second)),
            "bound"_a = s.latencies ? py::none() : py::object(py::float_(v.bound)),
            "bound_by"_a = v.bound_by, "as_meant"_a = v.as_meant));
  return py::dict("rows"_a = rows, "text"_a = taken(found.text()), "document"_a = found.document);
}

CheckedAccess access_or_none(const std::optional<CheckedAccess>& access) {
  return access.value_or(CheckedAccess{});
}

py::dict check_of(const CheckReport& found) {
  py::list rows;
  std::string text;
  for (const CheckedProgram& p : found.programs) {
    text += (text.empty() ? "" : "\n") + taken(p.text());
    for (const Finding& f : p.findings)
      rows.append(py::dict("program"_a = p.name,
                           "kind"_a = f.kind == Finding::Kind::kHazard   ? "hazard"
                                      : f.kind == Finding::Kind::kMisuse ? "misuse"
                                                                         : "unwritten",
                           "what"_a = f.what, "kernel"_a = f.kernel, "at"_a = f.at.source,
                           "ptx"_a = f.at.ptx, "earlier"_a = access_or_none(f.earlier).source,
                           "place"_a = f.place, "count"_a = f.count));
    for (const std::string& error : p.errors)
      rows.append(py::dict("program"_a = p.name, "kind"_a = "error", "what"_a = error,
                           "kernel"_a = "", "at"_a = "", "ptx"_a = "", "earlier"_a = "",
                           "place"_a = "", "count"_a = 1));
  }
  return py::dict("rows"_a = rows, "text"_a = text, "document"_a = found.document);
}

py::dict check_of_workload(const std::string& name, const std::string& size,
                           const std::string& kernels, const py::object& progress) {
  return check_of(asked(progress, [&](const auto& ask) {
    return check_workload(name, size, {.kernels = kernels, .progress = ask});
  }));
}

py::dict check_of_application(const std::vector<std::string>& command, const Machine& machine,
                              const std::string& kernels) {
  Caller caller;
  ApplicationOptions run;
  run.machine = machine;
  run.go_on = [&] { return caller.ask([] { return true; }); };
  auto found = without_lock([&] { return check_application(command, run, {.kernels = kernels}); });
  caller.rethrow();
  return check_of(taken(std::move(found)));
}

/// The NetworkOptions whose members are among the named arguments.
NetworkOptions network_options(const py::kwargs& named) {
  NetworkOptions o;
  take(named, "topology", o.topology);
  take(named, "size", o.size);
  take(named, "routing", o.routing);
  take(named, "vcs", o.vcs);
  take(named, "vnets", o.vnets);
  take(named, "buffers", o.buffers);
  take(named, "routing_delay", o.routing_delay);
  take(named, "vc_alloc_delay", o.vc_alloc_delay);
  take(named, "sw_alloc_delay", o.sw_alloc_delay);
  take(named, "traversal_delay", o.traversal_delay);
  take(named, "credit_delay", o.credit_delay);
  take(named, "speedup", o.speedup);
  take(named, "input_speedup", o.input_speedup);
  take(named, "wait_for_tail_credit", o.wait_for_tail_credit);
  take(named, "link_latency", o.link_latency);
  take(named, "traffic", o.traffic);
  take(named, "hot_nodes", o.hot_nodes);
  take(named, "hot_share", o.hot_share);
  take(named, "packet_flits", o.packet_flits);
  take(named, "reply_flits", o.reply_flits);
  take(named, "seed", o.seed);
  take(named, "loads", o.loads);
  take(named, "period_cycles", o.period_cycles);
  take(named, "max_periods", o.max_periods);
  take(named, "latency_limit", o.latency_limit);
  take(named, "threads", o.threads);
  return o;
}

py::dict network_of(const py::object& progress, const py::kwargs& named) {
  NetworkOptions options = network_options(named);
  const NetworkReport found = asked(progress, [&](const auto& ask) {
    options.progress = ask;
    return measure_network(options);
  });
  py::list rows;
  for (const NetworkLoad& l : found.loads)
    rows.append(py::dict("load"_a = l.load, "stable"_a = l.stable, "accepted"_a = l.accepted,
                         "latency"_a = l.latency, "latency_error"_a = l.latency_error,
                         "network_latency"_a = l.network_latency, "hops"_a = l.hops,
                         "max_latency"_a = l.max_latency, "packets"_a = l.packets,
                         "why"_a = l.why));
  return py::dict("rows"_a = rows, "text"_a = taken(found.text()), "document"_a = found.document);
}

}  // namespace

void define_studies(py::module_& m) {
  m.def("catalogue", &entries_of, py::arg("kind"));
  m.def("analyze", &analysis_of, py::arg("program"), py::arg("machine"), py::arg("policy"),
        py::arg("kernel"));
  m.def("mappings", &mappings_of, py::arg("program"), py::arg("machine"), py::arg("policy"),
        py::arg("progress"));
  m.def("sharing", &sharing_of, py::arg("program"), py::arg("machine"), py::arg("progress"));
  m.def("objects", &objects_of, py::arg("program"), py::arg("machine"), py::arg("policy"),
        py::arg("progress"));
  m.def("compare", &comparison_of, py::arg("first"), py::arg("second"));
  m.def("probe", &probe_of, py::arg("machine"), py::arg("threads"), py::arg("progress"));
  m.def("check_workload", &check_of_workload, py::arg("name"), py::arg("size"), py::arg("kernels"),
        py::arg("progress"));
  m.def("check_application", &check_of_application, py::arg("command"), py::arg("machine"),
        py::arg("kernels"));
  m.def("network", &network_of, py::arg("progress"));
}

}  // namespace nearwarp
