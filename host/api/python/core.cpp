// nearwarp._core: the public interface as a Python module, on which the package's Python files
// build.
//
// The interpreter's lock is released while anything is executed or simulated. Ctrl-C is looked for
// some times a second, in whichever thread the work is done.
#include <utility>

#include "host/api/python/caller.h"
#include "host/api/python/collected.h"

namespace nearwarp {
namespace {

using Changes = std::vector<std::string>;

/// Calls `load` with the ProgramOptions whose members are among the named arguments.
template <class F>
Program loaded(const py::kwargs& named, F load) {
  Caller caller;
  ProgramOptions o;
  take(named, "max_repeats", o.max_repeats);
  take(named, "cache", o.cache);
  const py::object progress = function_of(named, "progress"), tell = function_of(named, "tell");
  o.progress = [&](const Activity& a) {
    return caller.ask([&] { return wants_more(progress, a); });
  };
  o.tell = [&](const std::string& message) {
    if (!tell.is_none()) caller.ask([&] { return tell(message), true; });
  };
  auto made = without_lock([&] { return load(o); });
  caller.rethrow();
  return taken(std::move(made));
}

/// The ApplicationOptions whose members are among the named arguments; _programs.py refuses others.
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

/// Calls kRun: Program::application() or Program::processes().
template <auto kRun>
auto run_application(const std::vector<std::string>& command, const std::optional<Machine>& machine,
                     const py::kwargs& named) {
  Caller caller;
  const ApplicationOptions options = options_of(machine, named, caller);
  auto made = without_lock([&] { return kRun(command, options); });
  caller.rethrow();
  return taken(std::move(made));
}

/// A simulation, and the Python function that it calls.
class Run {
 public:
  Run(const Program& program, const Machine& machine, const Policy& policy, unsigned threads,
      const std::string& checkpoint, py::object progress)
      : steps_(std::make_shared<Steps>(Steps{{}, std::move(progress)})) {
    SimulationOptions options{.threads = threads, .checkpoint = checkpoint};
    options.progress = [steps = steps_](const Progress& p) {
      return steps->caller.ask(
          [&] { return steps->progress.is_none() || wants_more(steps->progress(p)); });
    };
    run_.emplace(taken(without_lock(
        [&] { return Simulation::begin(program, machine, policy, std::move(options)); })));
  }
  void run() {
    Steps::step(steps_, [this] { return run_->run(); });
  }
  void run_to_cycle(uint64_t cycle) {
    Steps::step(steps_, [&] { return run_->run_to_cycle(cycle); });
  }
  void run_to_launch(uint64_t launches) {
    Steps::step(steps_, [&] { return run_->run_to_launch(launches); });
  }
  const Simulation& get() const { return *run_; }
  void save() { taken(run_->save()); }
  template <class F>
  void visit(F f) {
    f(steps_->progress);
  }

 private:
  std::shared_ptr<Steps> steps_;
  std::optional<Simulation> run_;
};

/// The Run in a Python object. Throws for an object of a derived class that has not called
/// Simulation.__init__().
Run& run_of(py::handle self) {
  Run* const run = made_in<Run>(self.ptr());
  if (run == nullptr) throw py::type_error("Simulation.__init__() was not called, or is not done");
  return *run;
}

/// Runs the points. The list has a Result or a nearwarp.Error object for each.
py::list all_of(const std::vector<Point>& points, BatchOptions options, const py::object& progress,
                const py::object& tell) {
  Caller caller;
  options.progress = [&](const Progress& p) {
    return caller.ask([&] { return progress.is_none() || wants_more(progress(p)); });
  };
  options.tell = [&](const std::string& message) {
    if (!tell.is_none()) caller.ask([&] { return tell(message), true; });
  };
  taken(check(options));
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

/// Makes __new__() throw for types that only functions of the module make; pybind11's would make an
/// object without a value.
void refuse_empty(const py::module_& m) {
  for (const auto& [name, member] : py::cast<py::dict>(m.attr("__dict__"))) {
    if (!PyType_Check(member.ptr()) || member.is(error_type())) continue;
    const bool has_init =
        Py_TYPE(member.attr("__dict__")["__init__"].ptr()) != &PyWrapperDescr_Type;
    if (has_init) continue;
    reinterpret_cast<PyTypeObject*>(member.ptr())->tp_new = [](PyTypeObject* type, PyObject*,
                                                               PyObject*) -> PyObject* {
      PyErr_Format(PyExc_TypeError, "a %s is made by functions of nearwarp alone", type->tp_name);
      return nullptr;
    };
  }
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

  py::class_<Key>(m, "Key", "A key of a machine or a policy.")
      .def_readonly("name", &Key::name, "dotted, e.g. links.gpu_to_memory_mbps")
      .def_readonly("value", &Key::value, "as TOML has it")
      .def_readonly("unit", &Key::unit, "empty for counts, names and texts")
      .def_readonly("doc", &Key::doc, "one sentence")
      .def_readonly("range", &Key::range, "what is allowed")
      .def_readonly("source", &Key::source,
                    "where the value comes from; empty where that is not known")
      .def("__repr__", [](const Key& k) {
        return "nearwarp.Key(" + k.name + " = " + k.value + (k.unit.empty() ? "" : " " + k.unit) +
               ")";
      });
  define_configuration<Machine>(m, "Machine", "A machine's description.");
  define_configuration<Policy>(m, "Policy", "What computes near memory, and how.");

  py::class_<Launch>(m, "Launch", "A launch of a program's kernel.")
      .def_readonly("kernel", &Launch::kernel, "its name in PTX")
      .def_readonly("warp_instructions", &Launch::warp_instructions, "executed")
      .def_readonly("thread_instructions", &Launch::thread_instructions, "executed, by all lanes")
      .def("__repr__", [](const Launch& l) {
        return "nearwarp.Launch(" + l.kernel + ": " + std::to_string(l.warp_instructions) +
               " warp-instructions)";
      });
  py::class_<Program>(m, "Program")
      .def_static("load",
                  [](const std::string& names, const std::string& size, const py::kwargs& named) {
                    return loaded(named, [&](const ProgramOptions& o) {
                      return Program::load(names, size, o);
                    });
                  })
      .def_static("workload",
                  [](const std::string& name, const std::string& size, const py::kwargs& named) {
                    return loaded(named, [&](const ProgramOptions& o) {
                      return Program::workload(name, size, o);
                    });
                  })
      .def_static("recording",
                  [](const std::string& path, const py::kwargs& named) {
                    return loaded(named, [&](const ProgramOptions& o) {
                      return Program::recording(path, o);
                    });
                  })
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

  define_device(m);

  py::class_<Counter>(m, "Counter", "A counter of a run.")
      .def_readonly("name", &Counter::name, "dotted, e.g. sm.l1.read_hits")
      .def_readonly("value", &Counter::value, "summed over the components of its kind")
      .def_readonly("unit", &Counter::unit, "of the value")
      .def_readonly("description", &Counter::description, "what was counted")
      .def("__repr__", [](const Counter& c) {
        return "nearwarp.Counter(" + c.name + " = " + std::to_string(c.value) +
               (c.unit.empty() ? "" : " " + c.unit) + ")";
      });
  py::class_<LaunchResult>(m, "LaunchResult", "A launch in a run.")
      .def_readonly("kernel", &LaunchResult::kernel, "its name in PTX")
      .def_readonly("begin_cycle", &LaunchResult::begin_cycle,
                    "core cycles from the run's beginning")
      .def_readonly("cycles", &LaunchResult::cycles, "core cycles that it took")
      .def_readonly("warp_instructions", &LaunchResult::warp_instructions, "executed")
      .def_readonly("thread_instructions", &LaunchResult::thread_instructions,
                    "executed, by all lanes")
      .def("__repr__", [](const LaunchResult& l) {
        return "nearwarp.LaunchResult(" + l.kernel + ": " + std::to_string(l.cycles) +
               " cycles from cycle " + std::to_string(l.begin_cycle) + ")";
      });
  py::class_<Result>(
      m, "Result",
      "What a run came to. Two are compared by nearwarp.compare(), printed by nearwarp.table().")
      .def_readonly("program", &Result::program, "its name")
      .def_readonly("size", &Result::size, "of workloads")
      .def_readonly("machine", &Result::machine, "its name")
      .def_readonly("policy", &Result::policy, "its name")
      .def_readonly("partial", &Result::partial, "it stopped before the program's end")
      .def_readonly("partial_reason", &Result::partial_reason, "why, if it is partial")
      .def_readonly("cycles", &Result::cycles, "of the core clock")
      .def_readonly("seconds", &Result::seconds, "simulated")
      .def_readonly("warp_instructions", &Result::warp_instructions, "executed")
      .def_readonly("thread_instructions", &Result::thread_instructions, "executed, by all lanes")
      .def_readonly("offloaded_thread_instructions", &Result::offloaded_thread_instructions,
                    "of them, near memory")
      .def_readonly("ipc", &Result::ipc, "thread-instructions a cycle")
      .def_readonly("gpu_to_memory_bytes", &Result::gpu_to_memory_bytes,
                    "over links from the GPU to memory")
      .def_readonly("memory_to_gpu_bytes", &Result::memory_to_gpu_bytes,
                    "over links from memory to the GPU")
      .def_readonly("memory_to_memory_bytes", &Result::memory_to_memory_bytes,
                    "over links between memory stacks")
      .def_readonly("energy_joules", &Result::energy_joules, "an estimate")
      .def_readonly("exact", &Result::exact,
                    "false: of a sample, or of parts that did not all begin as they would have")
      .def_readonly("cycles_error", &Result::cycles_error,
                    "of a sample: how far cycles may be off, relative, at 95 % confidence")
      .def_readonly("host_seconds", &Result::host_seconds, "that the simulation took")
      .def_readonly("counters", &Result::counters, "Counter objects")
      .def_readonly("launches", &Result::launches, "LaunchResult objects, in the program's order")
      .def_readonly("json", &Result::json, "all of it, a member of runs in docs/json.md")
      .def(
          "counter",
          [](const Result& r, const py::object& name) {
            return taken(r.counter(text_of("name", name)));
          },
          py::arg("name"), "A counter's value by its name; an Error names the nearest one.")
      .def("__reduce_ex__",
           [](const Result&, int) -> py::object {
             throw py::type_error(
                 "a nearwarp.Result is not pickled or copied - keep its json, or the numbers that "
                 "you need; of a table from nearwarp.sweep(), table.drop(columns=\"result\")");
           })
      .def("__repr__", [](const Result& r) {
        return "nearwarp.Result(" + r.program + " on " + r.machine + " under " + r.policy + ": " +
               std::to_string(r.cycles) + " cycles" + (r.partial ? " so far)" : ")");
      });
  m.def(
      "table",
      [](const std::vector<Result>& results, size_t width, bool legend, bool explain) {
        return taken(without_lock([&] {
          return table(results, {.width = width, .legend = legend, .explain = explain});
        }));
      },
      py::arg("results"), py::kw_only(), py::arg("width") = 80, py::arg("legend") = false,
      py::arg("explain") = false);
  py::class_<Progress>(m, "Progress", "How far a run is, or several together.")
      .def_readonly("cycles", &Progress::cycles, "core cycles simulated; 0 of several runs")
      .def_readonly("warp_instructions", &Progress::warp_instructions, "done")
      .def_readonly("warp_instructions_total", &Progress::warp_instructions_total,
                    "to be done in all");

  py::class_<Run>(m, "Simulation", collected<Run>())
      .def(py::init<const Program&, const Machine&, const Policy&, unsigned, const std::string&,
                    py::object>(),
           py::arg("program"), py::arg("machine"), py::arg("policy"), py::kw_only(),
           py::arg("threads") = 1, py::arg("checkpoint") = "", py::arg("progress") = py::none())
      .def("run", [](py::handle self) { run_of(self).run(); })
      .def(
          "run_to_cycle", [](py::handle self, uint64_t cycle) { run_of(self).run_to_cycle(cycle); },
          py::arg("cycle"))
      .def(
          "run_to_launch",
          [](py::handle self, uint64_t launches) { run_of(self).run_to_launch(launches); },
          py::arg("launches"))
      .def("save", [](py::handle self) { run_of(self).save(); })
      .def(
          "counter",
          [](py::handle self, const py::object& name) {
            return taken(run_of(self).get().counter(text_of("name", name)));
          },
          py::arg("name"))
      .def_property_readonly(
          "ended", [](py::handle self) { return run_of(self).get().ended(); },
          "the program is at its end")
      .def_property_readonly(
          "cycles", [](py::handle self) { return run_of(self).get().cycles(); },
          "core cycles simulated so far")
      .def_property_readonly(
          "launches_ended", [](py::handle self) { return run_of(self).get().launches_ended(); },
          "launches that have ended so far")
      .def_property_readonly(
          "result", [](py::handle self) { return taken(run_of(self).get().now()); },
          "a Result of what was simulated so far");

  py::class_<Point>(m, "Point")
      .def(py::init([](const Program& p, const Machine& machine, const Policy& policy) {
        return Point{p, machine, policy};
      }));
  m.def(
      "run_all",
      [](const std::vector<Point>& points, unsigned threads, const std::string& backend, int device,
         const std::string& launches, const std::string& sample, bool cold_caches,
         const py::object& progress, const py::object& tell) {
        return all_of(points,
                      {.threads = threads,
                       .backend = backend,
                       .device = device,
                       .launches = launches,
                       .sample = sample,
                       .cold_caches = cold_caches},
                      progress, tell);
      },
      py::arg("points"), py::kw_only(), py::arg("threads") = 0, py::arg("backend") = "cpu",
      py::arg("device") = 0, py::arg("launches") = "", py::arg("sample") = "",
      py::arg("cold_caches") = false, py::arg("progress") = py::none(),
      py::arg("tell") = py::none());
  define_sweeps(m);
  define_studies(m);
  refuse_empty(m);
}
