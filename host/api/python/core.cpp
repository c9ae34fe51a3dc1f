// nearwarp._core: the public interface as Python sees it. What it lacks to be pleasant is in
// __init__.py.
//
// The interpreter's lock is let go while anything is executed or simulated. Ctrl-C is looked for
// some times a second, wherever the work is done.
#include <pybind11/numpy.h>

#include <utility>

#include "host/api/python/caller.h"

namespace nearwarp {
namespace {

using Changes = std::vector<std::string>;

Program workload(const std::string& name, const std::string& size, uint32_t max_repeats) {
  Caller caller;
  ProgramOptions options{.max_repeats = max_repeats, .progress = [&](const Activity&) {
                           return caller.ask([] { return true; });
                         }};
  auto made = without_lock([&] { return Program::workload(name, size, options); });
  caller.rethrow();
  return taken(std::move(made));
}

/// By names, as ApplicationOptions has them; __init__.py refuses others.
ApplicationOptions options_of(const std::optional<Machine>& machine, const py::kwargs& named,
                              Caller& caller) {
  ApplicationOptions o;
  o.machine = machine;
  const auto set = [&](const char* name, auto& member) { take(named, name, member); };
  set("kernels", o.kernels);
  set("max_thread_instructions", o.max_thread_instructions);
  set("max_trace_bytes", o.max_trace_bytes);
  set("registers", o.registers);
  set("interleave", o.interleave);
  set("execute_most", o.execute_most);
  set("time_limit_seconds", o.time_limit_seconds);
  set("devices", o.devices);
  set("strict_bounds", o.strict_bounds);
  set("output", o.output);
  set("max_repeats", o.max_repeats);
  set("cache", o.cache);
  set("simulated_events", o.simulated_events);
  if (named.contains("tell"))
    o.tell = [&caller, &named](const std::string& message) {
      caller.ask([&] {
        named["tell"](message);
        return true;
      });
    };
  o.go_on = [&caller] { return caller.ask([] { return true; }); };
  return o;
}

/// Program::application() or Program::processes().
template <auto kRun>
auto run_application(const std::vector<std::string>& command, const std::optional<Machine>& machine,
                     const py::kwargs& named) {
  Caller caller;
  const ApplicationOptions options = options_of(machine, named, caller);
  auto made = without_lock([&] { return kRun(command, options); });
  caller.rethrow();
  return taken(std::move(made));
}

/// A simulation, and what of Python's it calls.
class Run {
 public:
  Run(const Program& program, const Machine& machine, const Policy& policy, unsigned threads,
      const std::string& checkpoint, py::object progress)
      : asked_(std::make_shared<Asked>(Asked{{}, std::move(progress)})) {
    SimulationOptions options{.threads = threads, .checkpoint = checkpoint};
    options.progress = [asked = asked_](const Progress& p) {
      return asked->caller.ask(
          [&] { return asked->progress.is_none() || wants_more(asked->progress(p)); });
    };
    run_.emplace(taken(without_lock(
        [&] { return Simulation::begin(program, machine, policy, std::move(options)); })));
  }
  void run() {
    step([](Simulation& s) { return s.run(); });
  }
  void run_to_cycle(uint64_t cycle) {
    step([cycle](Simulation& s) { return s.run_to_cycle(cycle); });
  }
  void run_to_launch(uint64_t launches) {
    step([launches](Simulation& s) { return s.run_to_launch(launches); });
  }
  const Simulation& get() const { return *run_; }
  void save() { taken(run_->save()); }

 private:
  struct Asked {
    Caller caller;
    py::object progress;
  };
  template <class F>
  void step(F f) {
    asked_->caller = {};
    Expected<Done> done = without_lock([&] { return f(*run_); });
    asked_->caller.rethrow();
    taken(std::move(done));
  }

  std::shared_ptr<Asked> asked_;
  std::optional<Simulation> run_;
};

/// Results, or nearwarp.Error objects in their place.
py::list all_of(const std::vector<Point>& points, BatchOptions options,
                const py::object& progress) {
  Caller caller;
  options.progress = [&](const Progress& p) {
    return caller.ask([&] { return progress.is_none() || wants_more(progress(p)); });
  };
  auto results = watched(caller, [&] { return run_all(points, options); });
  py::list list;
  for (Expected<Result>& r : results) {
    if (r) {
      list.append(std::move(*r));
      continue;
    }
    try {
      raise(r.failure());
    } catch (py::error_already_set& error) {
      list.append(error.value());
    }
  }
  return list;
}

std::span<const std::byte> bytes_of(const py::buffer_info& info, bool contiguous) {
  if (!contiguous) throw py::value_error("the array has gaps - pass numpy.ascontiguousarray(it)");
  return {static_cast<const std::byte*>(info.ptr), static_cast<size_t>(info.size * info.itemsize)};
}

bool is_contiguous(const py::buffer_info& info) {
  py::ssize_t step = info.itemsize;
  for (py::ssize_t i = info.ndim - 1; i >= 0; step *= info.shape[static_cast<size_t>(i)], --i)
    if (info.shape[static_cast<size_t>(i)] > 1 && info.strides[static_cast<size_t>(i)] != step)
      return false;
  return true;
}

Extent extent_of(const std::vector<uint32_t>& e) {
  if (e.empty() || e.size() > 3)
    throw py::value_error("an extent has one to three numbers: x, y, z");
  return {e[0], e.size() > 1 ? e[1] : 1, e.size() > 2 ? e[2] : 1};
}

template <class T>
void define_configuration(py::module_& m, const char* name, const char* doc) {
  py::class_<T>(m, name, doc)
      .def_static(
          "load",
          [](const std::string& from, const Changes& changes) {
            return taken(T::load(from, changes));
          },
          py::arg("name_or_path"), py::arg("changes") = Changes{})
      .def_static(
          "parse",
          [](const std::string& toml, const std::string& called, const Changes& changes) {
            return taken(T::parse(toml, called, changes));
          },
          py::arg("toml"), py::arg("name"), py::arg("changes") = Changes{})
      .def("changed", [](const T& t, const Changes& changes) { return taken(t.with(changes)); })
      .def("get", [](const T& t, const std::string& key) { return taken(t.get(key)); })
      .def_property_readonly("name", &T::name)
      .def_property_readonly("keys", &T::keys)
      .def_static("all_keys", &T::all_keys);
}

}  // namespace
}  // namespace nearwarp

PYBIND11_MODULE(_core, m) {
  using namespace nearwarp;
  m.doc() = "The public interface of nearwarp; use the package nearwarp.";
  error_type() = py::reinterpret_steal<py::object>(PyErr_NewExceptionWithDoc(
      "nearwarp.Error",
      "What went wrong: what it is, in which file and line (or None), and what "
      "would be right.",
      PyExc_Exception, nullptr));
  m.attr("Error") = error_type();

  m.def("version", &version);
  m.def("machine_names", &machine_names);
  m.def("policy_names", &policy_names);
  m.def("workload_names", [] {
    std::vector<std::pair<std::string, std::string>> names;
    for (WorkloadName& w : nearwarp::workload_names())
      names.emplace_back(std::move(w.name), std::move(w.description));
    return names;
  });

  py::class_<Key>(m, "Key")
      .def_readonly("name", &Key::name)
      .def_readonly("value", &Key::value)
      .def_readonly("unit", &Key::unit)
      .def_readonly("doc", &Key::doc)
      .def_readonly("range", &Key::range)
      .def_readonly("source", &Key::source);
  define_configuration<Machine>(m, "Machine", "A machine's description.");
  define_configuration<Policy>(m, "Policy", "What computes near memory, and how.");

  py::class_<Launch>(m, "Launch")
      .def_readonly("kernel", &Launch::kernel)
      .def_readonly("warp_instructions", &Launch::warp_instructions)
      .def_readonly("thread_instructions", &Launch::thread_instructions);
  py::class_<Program>(m, "Program")
      .def_static("workload", &workload, py::arg("name"), py::arg("size") = "small",
                  py::arg("max_repeats") = 0)
      .def_static(
          "load",
          [](const std::string& names, const std::string& size, uint32_t max_repeats,
             const std::string& cache) {
            Caller caller;
            ProgramOptions options{
                .max_repeats = max_repeats, .cache = cache, .progress = [&](const Activity&) {
                  return caller.ask([] { return true; });
                }};
            auto made = without_lock([&] { return Program::load(names, size, options); });
            caller.rethrow();
            return taken(std::move(made));
          },
          py::arg("names"), py::arg("size") = "small", py::arg("max_repeats") = 0,
          py::arg("cache") = "")
      .def_static(
          "recording",
          [](const std::string& path, uint32_t max_repeats) {
            return taken(without_lock(
                [&] { return Program::recording(path, {.max_repeats = max_repeats}); }));
          },
          py::arg("path"), py::arg("max_repeats") = 0)
      .def_static("application", &run_application<&Program::application>, py::arg("command"),
                  py::arg("machine"))
      .def_static("processes", &run_application<&Program::processes>, py::arg("command"),
                  py::arg("machine"))
      .def("save",
           [](const Program& p, const std::string& path) {
             taken(without_lock([&] { return p.save(path); }));
           })
      .def_property_readonly("name", &Program::name)
      .def_property_readonly("size", &Program::size)
      .def_property_readonly("warp_instructions", &Program::warp_instructions)
      .def_property_readonly("thread_instructions", &Program::thread_instructions)
      .def_property_readonly("launches", &Program::launches)
      .def_property_readonly("truncated", &Program::truncated);

  py::class_<Device>(m, "Device")
      .def(py::init<>())
      .def("load", [](Device& d, const std::string& ptx,
                      const std::string& name) { return taken(d.load(ptx, name)); })
      .def("allocate", [](Device& d, uint64_t bytes,
                          const std::string& name) { return taken(d.allocate(bytes, name)); })
      .def("free", [](Device& d, uint64_t at) { taken(d.free(at)); })
      .def("write",
           [](Device& d, uint64_t at, const py::buffer& from) {
             const py::buffer_info info = from.request();
             taken(d.write(at, bytes_of(info, is_contiguous(info))));
           })
      .def("read",
           [](const Device& d, uint64_t at, const py::buffer& into) {
             const py::buffer_info info = into.request(true);
             const auto bytes = bytes_of(info, is_contiguous(info));
             taken(d.read(at, {const_cast<std::byte*>(bytes.data()), bytes.size()}));
           })
      .def("launch",
           [](Device& d, uint32_t module, const std::string& kernel,
              const std::vector<uint32_t>& grid, const std::vector<uint32_t>& block,
              const std::string& arguments, uint32_t shared_bytes) {
             const Extent g = extent_of(grid), b = extent_of(block);
             taken(without_lock([&] {
               return d.launch(module, kernel, g, b, std::as_bytes(std::span(arguments)),
                               shared_bytes);
             }));
           })
      .def("take_program",
           [](Device& d, const std::string& name) { return taken(d.take_program(name)); });

  py::class_<Counter>(m, "Counter")
      .def_readonly("name", &Counter::name)
      .def_readonly("value", &Counter::value)
      .def_readonly("unit", &Counter::unit)
      .def_readonly("description", &Counter::description);
  py::class_<LaunchResult>(m, "LaunchResult")
      .def_readonly("kernel", &LaunchResult::kernel)
      .def_readonly("begin_cycle", &LaunchResult::begin_cycle)
      .def_readonly("cycles", &LaunchResult::cycles)
      .def_readonly("warp_instructions", &LaunchResult::warp_instructions)
      .def_readonly("thread_instructions", &LaunchResult::thread_instructions);
  py::class_<Result>(m, "Result")
      .def_readonly("program", &Result::program)
      .def_readonly("size", &Result::size, "of workloads")
      .def_readonly("machine", &Result::machine)
      .def_readonly("policy", &Result::policy)
      .def_readonly("partial", &Result::partial)
      .def_readonly("partial_reason", &Result::partial_reason)
      .def_readonly("cycles", &Result::cycles, "of the core clock")
      .def_readonly("seconds", &Result::seconds, "simulated")
      .def_readonly("warp_instructions", &Result::warp_instructions)
      .def_readonly("thread_instructions", &Result::thread_instructions)
      .def_readonly("offloaded_thread_instructions", &Result::offloaded_thread_instructions)
      .def_readonly("ipc", &Result::ipc, "thread-instructions a cycle")
      .def_readonly("gpu_to_memory_bytes", &Result::gpu_to_memory_bytes)
      .def_readonly("memory_to_gpu_bytes", &Result::memory_to_gpu_bytes)
      .def_readonly("memory_to_memory_bytes", &Result::memory_to_memory_bytes)
      .def_readonly("energy_joules", &Result::energy_joules, "an estimate")
      .def_readonly("exact", &Result::exact,
                    "false: of a sample, or of parts that did not all begin as they would have")
      .def_readonly("cycles_error", &Result::cycles_error,
                    "of a sample: how far cycles may be off, relative, at 95 % confidence")
      .def_readonly("host_seconds", &Result::host_seconds, "that the simulation took")
      .def_readonly("counters", &Result::counters)
      .def_readonly("launches", &Result::launches)
      .def_readonly("json", &Result::json)
      .def("counter",
           [](const Result& r, const std::string& name) { return taken(r.counter(name)); });
  m.def(
      "table",
      [](const std::vector<Result>& results, size_t width, bool legend, bool explain) {
        return taken(table(results, {.width = width, .legend = legend, .explain = explain}));
      },
      py::arg("results"), py::kw_only(), py::arg("width") = 80, py::arg("legend") = false,
      py::arg("explain") = false);
  py::class_<Progress>(m, "Progress")
      .def_readonly("cycles", &Progress::cycles)
      .def_readonly("warp_instructions", &Progress::warp_instructions)
      .def_readonly("warp_instructions_total", &Progress::warp_instructions_total);

  py::class_<Run>(m, "Simulation")
      .def(py::init<const Program&, const Machine&, const Policy&, unsigned, const std::string&,
                    py::object>(),
           py::arg("program"), py::arg("machine"), py::arg("policy"), py::kw_only(),
           py::arg("threads") = 1, py::arg("checkpoint") = "", py::arg("progress") = py::none())
      .def("run", &Run::run)
      .def("run_to_cycle", &Run::run_to_cycle, py::arg("cycle"))
      .def("run_to_launch", &Run::run_to_launch, py::arg("launches"))
      .def("save", &Run::save)
      .def("counter",
           [](const Run& r, const std::string& name) { return taken(r.get().counter(name)); })
      .def_property_readonly("ended", [](const Run& r) { return r.get().ended(); })
      .def_property_readonly("cycles", [](const Run& r) { return r.get().cycles(); })
      .def_property_readonly("launches_ended",
                             [](const Run& r) { return r.get().launches_ended(); })
      .def_property_readonly("result", [](const Run& r) { return r.get().result(); });

  py::class_<Point>(m, "Point")
      .def(py::init([](const Program& p, const Machine& machine, const Policy& policy) {
        return Point{p, machine, policy};
      }));
  m.def(
      "run_all",
      [](const std::vector<Point>& points, unsigned threads, const std::string& backend, int device,
         const std::string& launches, const std::string& sample, bool cold_caches,
         const py::object& progress) {
        return all_of(points,
                      {.threads = threads,
                       .backend = backend,
                       .device = device,
                       .launches = launches,
                       .sample = sample,
                       .cold_caches = cold_caches},
                      progress);
      },
      py::arg("points"), py::kw_only(), py::arg("threads") = 0, py::arg("backend") = "cpu",
      py::arg("device") = 0, py::arg("launches") = "", py::arg("sample") = "",
      py::arg("cold_caches") = false, py::arg("progress") = py::none());
  define_sweeps(m);
  define_studies(m);
}
