// nearwarp._core: sweeps and experiments.
#include "host/api/python/caller.h"

namespace nearwarp {
namespace {

/// The Python functions that a sweep calls, from any thread, one at a time. The simulator copies
/// only references to them, since a Python object may be copied only with the interpreter's lock.
struct Called {
  explicit Called(const py::kwargs& named) {
    const auto keep = [&](const char* name, std::optional<py::object>& function) {
      if (named.contains(name) && !named[name].is_none()) function = py::object(named[name]);
    };
    keep("progress", progress);
    keep("finished", finished);
    keep("tell", tell);
  }
  std::optional<py::object> progress, finished, tell;
  Caller caller;
};

/// The SweepOptions whose members are among the named arguments; the package refuses others.
SweepOptions options_of(const std::string& out, const py::kwargs& named, Called& called) {
  SweepOptions o{.out = out};
  take(named, "csv", o.csv);
  take(named, "part", o.part);
  take(named, "retry", o.retry);
  take(named, "only_count", o.only_count);
  take(named, "threads", o.threads);
  take(named, "backend", o.backend);
  take(named, "device", o.device);
  take(named, "checkpoints", o.checkpoints);
  take(named, "cache", o.cache);
  o.progress = [&called](const SweepProgress& p) {
    return called.caller.ask([&] { return !called.progress || wants_more((*called.progress)(p)); });
  };
  o.program = [&called](const Activity&) { return called.caller.ask([] { return true; }); };
  if (called.finished)
    o.finished = [&called](const std::string& line) {
      called.caller.ask([&] { return (*called.finished)(line), true; });
    };
  if (called.tell)
    o.tell = [&called](const std::string& message) {
      called.caller.ask([&] { return (*called.tell)(message), true; });
    };
  return o;
}

/// Calls Sweep::run() or Experiment::run().
template <class T>
auto run(const T& of, const std::string& out, const py::kwargs& named) {
  Called called(named);
  const SweepOptions options = options_of(out, named, called);
  return taken(watched(called.caller, [&] { return of.run(options); }));
}

using Names = std::vector<std::string>;

Sweep plan(const Names& programs, const Names& machines, const Names& policies, const Names& values,
           const py::kwargs& named) {
  SweepDefinition definition{
      .programs = programs, .machines = machines, .policies = policies, .values = values};
  take(named, "size", definition.size);
  take(named, "max_repeats", definition.max_repeats);
  take(named, "launches", definition.launches);
  take(named, "sample", definition.sample);
  take(named, "cold_caches", definition.cold_caches);
  Caller caller;
  auto made = without_lock([&] {
    return Sweep::plan(definition,
                       [&](uint64_t, uint64_t) { return caller.ask([] { return true; }); });
  });
  caller.rethrow();
  return taken(std::move(made));
}

template <class T>
void define_outcome(py::class_<T> outcome) {
  const auto name = outcome.attr("__name__").template cast<std::string>();
  outcome.def_readonly("points", &T::points, "of the part")
      .def_readonly("already_there", &T::already_there, "were there before")
      .def_readonly("finished", &T::finished, "came to an end now")
      .def_readonly("failed", &T::failed, "of all that are there")
      .def_readonly("first_failure", &T::first_failure, "which, and why; empty: none failed")
      .def_readonly("stopped", &T::stopped, "progress said so: points are left")
      .def_readonly("file", &T::file, "results are in")
      .def("__repr__", [name](const T& o) {
        return "nearwarp." + name + "(" + std::to_string(o.points) +
               " points: " + std::to_string(o.already_there) + " were there, " +
               std::to_string(o.finished) + " ended now, " + std::to_string(o.failed) + " failed" +
               (o.stopped ? "; stopped)" : ")");
      });
}

void define_experiments(py::module_& m) {
  py::class_<Study>(m, "Study", "A sweep of an experiment's, as its file has it.")
      .def_readonly("name", &Study::name, "its name in the file")
      .def_readonly("about", &Study::about, "one sentence; may be empty")
      .def_readonly("programs", &Study::programs, "its own, and as Program() takes them")
      .def_readonly("machines", &Study::machines, "names or paths")
      .def_readonly("policies", &Study::policies, "names or paths")
      .def_readonly("values", &Study::values, "of keys, KEY=A,B,...")
      .def("__repr__", [](const Study& s) { return "nearwarp.Study('" + s.name + "')"; });
  py::class_<Figure>(m, "Figure", "A figure of an experiment's, as its file has it.")
      .def_readonly("name", &Figure::name, "its name in the file")
      .def_readonly("title", &Figure::title, "its heading in the report")
      .def_readonly("about", &Figure::about, "some sentences; may be empty")
      .def_readonly("studies", &Figure::studies, "whose points it shows")
      .def("__repr__", [](const Figure& f) { return "nearwarp.Figure('" + f.name + "')"; });
  py::class_<ExperimentFile>(m, "ExperimentFile")
      .def_static("load", [](const std::string& from) { return taken(ExperimentFile::load(from)); })
      .def_static("parse",
                  [](const std::string& toml, const std::string& name, const std::string& folder) {
                    return taken(ExperimentFile::parse(toml, name, folder));
                  })
      .def("only", [](const ExperimentFile& f, const Names& names) { return taken(f.only(names)); })
      .def_property_readonly("name", &ExperimentFile::name)
      .def_property_readonly("path", &ExperimentFile::path)
      .def_property_readonly("title", &ExperimentFile::title)
      .def_property_readonly("description", &ExperimentFile::description)
      .def_property_readonly("source", &ExperimentFile::source)
      .def_property_readonly("studies", &ExperimentFile::studies)
      .def_property_readonly("figures", &ExperimentFile::figures);
  py::class_<FigureTable>(m, "FigureTable")
      .def_readonly("name", &FigureTable::name)
      .def_readonly("title", &FigureTable::title)
      .def_readonly("csv", &FigureTable::csv)
      .def_readonly("latex", &FigureTable::latex)
      .def_readonly("text", &FigureTable::text);
  py::class_<ExperimentReport>(m, "ExperimentReport")
      .def_readonly("summary", &ExperimentReport::summary)
      .def_readonly("figures", &ExperimentReport::figures)
      .def_readonly("points_csv", &ExperimentReport::points_csv)
      .def_readonly("json", &ExperimentReport::json)
      .def_readonly("html", &ExperimentReport::html)
      .def("write", [](const ExperimentReport& r, const std::string& to) { taken(r.write(to)); });
  define_outcome(
      py::class_<ExperimentOutcome>(m, "ExperimentOutcome", "What Experiment.run() has done."));
  py::class_<Experiment>(m, "Experiment")
      .def_static("plan",
                  [](const ExperimentFile& file, const py::kwargs& named) {
                    ExperimentChoice choice;
                    take(named, "size", choice.size);
                    take(named, "launches", choice.launches);
                    take(named, "sample", choice.sample);
                    take(named, "cold_caches", choice.cold_caches);
                    return taken(without_lock([&] { return Experiment::plan(file, choice); }));
                  })
      .def_property_readonly("size", &Experiment::size)
      .def_property_readonly("folder", &Experiment::folder)
      .def("points",
           [](const Experiment& e) {
             std::vector<std::pair<std::string, SweepPoint>> points;
             for (StudyPoint& p : e.points())
               points.emplace_back(std::move(p.study), std::move(p.point));
             return points;
           })
      .def("run", &run<Experiment>)
      .def("report", [](const Experiment& e, const std::string& folder, const py::kwargs& named) {
        size_t width = 80;
        take(named, "width", width);
        return taken(without_lock([&] { return e.report(folder, width); }));
      });
  m.def("experiment_names", &experiment_names);
  m.def("new_experiment", [](const std::string& path, const std::string& program) {
    taken(new_experiment(path, program));
  });
  m.def("new_experiment_of_application", [](const std::string& path, const Names& command) {
    taken(new_experiment(path, command));
  });
}

}  // namespace

void define_sweeps(py::module_& m) {
  py::class_<SweepPoint>(m, "SweepPoint")
      .def_readonly("index", &SweepPoint::index)
      .def_readonly("program", &SweepPoint::program)
      .def_readonly("size", &SweepPoint::size)
      .def_readonly("machine", &SweepPoint::machine)
      .def_readonly("policy", &SweepPoint::policy)
      .def_readonly("values", &SweepPoint::values)
      .def_readonly("id", &SweepPoint::id)
      .def_readonly("error", &SweepPoint::error);
  py::class_<SweepProgress>(m, "SweepProgress", "How far a sweep is, counting what is run now.")
      .def_readonly("points_done", &SweepProgress::points_done, "that have ended")
      .def_readonly("points", &SweepProgress::points, "that are run now, all of them")
      .def_readonly("warp_instructions_done", &SweepProgress::warp_instructions_done, "simulated")
      .def_readonly("warp_instructions", &SweepProgress::warp_instructions,
                    "of all that are run now")
      .def_readonly("cost_done", &SweepProgress::cost_done, "seconds of one thread of the host's")
      .def_readonly("cost", &SweepProgress::cost, "the same of all");
  auto outcome = py::class_<SweepOutcome>(m, "SweepOutcome", "What Sweep.run() has done.");
  define_outcome(outcome);
  outcome.def_readonly("table", &SweepOutcome::table, "speed-ups, for people");
  py::class_<Sweep>(m, "Sweep")
      .def_static("plan", &plan)
      .def_property_readonly("points", &Sweep::points)
      .def("point", [](const Sweep& s, size_t index) { return taken(s.point(index)); })
      .def("run", &run<Sweep>);
  define_experiments(m);
}

}  // namespace nearwarp
