// Parts of nearwarp._core have this in common: failures as exceptions, and work without the
// interpreter's lock that Ctrl-C ends.
#pragma once

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/api/nearwarp.h"

namespace py = pybind11;

namespace nearwarp {

/// nearwarp.Error, which has a failure's parts as attributes.
inline py::object& error_type() {
  static py::object type;
  return type;
}

[[noreturn]] inline void raise(const Failure& f) {
  py::object error = error_type()(f.message);
  error.attr("what") = f.what;
  error.attr("file") = f.file.empty() ? py::object(py::none()) : py::cast(f.file);
  error.attr("line") = f.line == 0 ? py::object(py::none()) : py::cast(f.line);
  error.attr("right") = f.right;
  PyErr_SetObject(error_type().ptr(), error.ptr());
  throw py::error_already_set();
}

template <class T>
T taken(Expected<T> made) {
  if (!made) raise(made.failure());
  return std::move(made.value());
}

/// Keeps what a function of Python's throws, or Ctrl-C, until the work that called it has stopped.
class Caller {
 public:
  /// Calls `f`, which may return false; false: the work is to stop, as it is once something was
  /// thrown.
  template <class F>
  bool ask(F f) {
    const py::gil_scoped_acquire lock;
    if (thrown_ != nullptr) return false;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      return f();
    } catch (...) {
      thrown_ = std::current_exception();
      return false;
    }
  }
  /// With the interpreter's lock.
  void rethrow() const {
    if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  }

 private:
  std::exception_ptr thrown_;
};

inline std::string shown(const py::object& value) { return py::repr(value).cast<std::string>(); }

/// A text among the arguments.
inline std::string text_of(const char* name, const py::object& value) {
  if (!py::isinstance<py::str>(value))
    throw py::type_error(std::string(name) + "=" + shown(value) + " - it is a str");
  return value.cast<std::string>();
}

/// Whether Python's function wants more; None is as good as True.
inline bool wants_more(const py::object& said) {
  if (said.is_none()) return true;
  try {
    return said.cast<bool>();
  } catch (const py::cast_error&) {
    throw py::type_error("a function of progress returned " + shown(said) +
                         " - False stops the work, True and None let it go on");
  }
}

/// Asks Python's function of what is done, if there is one.
inline bool wants_more(const py::object& progress, const Activity& a) {
  return progress.is_none() || wants_more(progress(a.what, a.done, a.total));
}

/// A function among the arguments, or None.
inline py::object function_of(const py::kwargs& named, const char* name) {
  return named.contains(name) ? py::object(named[name]) : py::object(py::none());
}

/// Words for what an argument of that type may be.
template <class T>
constexpr const char* values_of() {
  if constexpr (std::is_same_v<T, bool>)
    return "True or False";
  else if constexpr (std::is_integral_v<T>)
    return std::is_signed_v<T> ? "a whole number" : "a whole number of at least 0";
  else if constexpr (std::is_floating_point_v<T>)
    return "a number";
  else if constexpr (std::is_same_v<T, std::string>)
    return "a str";
  else
    return "a list";
}

/// Sets the member for the argument of that name, if it was given.
template <class T>
void take(const py::kwargs& named, const char* name, T& member) {
  if (!named.contains(name)) return;
  const py::object value = named[name];
  try {
    member = value.cast<T>();
  } catch (const py::cast_error&) {
    throw py::value_error(std::string(name) + " cannot be " + shown(value) + " - it is " +
                          values_of<T>());
  }
}

template <class F>
auto without_lock(F work) {
  const py::gil_scoped_release free;
  return work();
}

/// Returns what `work` does, in a thread of its own, so that the interpreter's one is free to look
/// for Ctrl-C. The work stops when it asks the caller.
template <class F>
auto watched(Caller& caller, F work) {
  using namespace std::chrono_literals;
  std::optional<decltype(work())> made;
  std::exception_ptr failed;
  {
    const py::gil_scoped_release free;
    std::atomic<bool> ended = false;
    std::thread worker([&] {
      try {
        made.emplace(work());
      } catch (...) {
        failed = std::current_exception();
      }
      ended = true;
    });
    while (!ended) {
      std::this_thread::sleep_for(10ms);
      caller.ask([] { return true; });
    }
    worker.join();
  }
  if (failed != nullptr) std::rethrow_exception(failed);
  caller.rethrow();
  return std::move(*made);
}

/// Functions of Python's that work calls which goes on in steps.
struct Steps {
  Caller caller;
  py::object progress;

  template <class F>
  static void step(const std::shared_ptr<Steps>& of, F f) {
    of->caller = {};
    Expected<Done> done = without_lock(f);
    of->caller.rethrow();
    taken(std::move(done));
  }
};

// Parts of the module, a file each.
void define_device(py::module_& m);   // kernels of one's own
void define_sweeps(py::module_& m);   // sweeps and experiments
void define_studies(py::module_& m);  // what there is, analyses, comparisons, studies of parts

}  // namespace nearwarp
