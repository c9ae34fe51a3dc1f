// nearwarp._core.Device: a simulated GPU that runs the user's own kernels.
#include <pybind11/numpy.h>

#include <memory>
#include <mutex>
#include <utility>

#include "host/api/python/caller.h"
#include "host/api/python/collected.h"

namespace nearwarp {
namespace {

/// A device, and the Python functions that it calls.
class OwnDevice {
 public:
  explicit OwnDevice(py::object print) {
    steps_->print = std::move(print);
    DeviceOptions o;
    o.progress = [steps = steps_](const Activity& a) {
      return steps->caller.ask([&] { return wants_more(steps->progress, a); });
    };
    if (!steps_->print.is_none())
      o.print = [steps = steps_](const std::string& text) {
        steps->caller.ask([&] { return steps->print.is_none() || (steps->print(text), true); });
      };
    device_ = Device(std::move(o));
  }
  /// Returns the value of work(device), which is called without the interpreter's lock, by one
  /// thread at a time. Launches do not use this, since they call Python functions that may do so.
  template <class F>
  auto alone(F work) {
    return taken(without_lock([&] {
      const std::lock_guard one(mutex_);
      return work(device_);
    }));
  }
  void launch(uint32_t module, const std::string& kernel, Extent grid, Extent block,
              const std::string& arguments, uint32_t shared_bytes, py::object progress) {
    const auto run = [&] {
      return device_.launch(module, kernel, grid, block, std::as_bytes(std::span(arguments)),
                            shared_bytes);
    };
    // The device refuses a launch beside another one, whose function stays the one that is called.
    if (launching_) {
      taken(without_lock(run));
      return;
    }
    const ProgressOfLaunch own(*this, std::move(progress));
    Steps::step(steps_, run);
  }
  template <class F>
  void visit(F f) {
    f(steps_->progress);
    f(steps_->print);
  }

 private:
  struct StepsThatPrint : Steps {
    py::object print;
  };
  /// Sets the progress function for as long as a launch runs. Made and destroyed with the
  /// interpreter's lock, which guards launching_.
  class ProgressOfLaunch {
   public:
    ProgressOfLaunch(OwnDevice& device, py::object progress) : device_(device) {
      device_.launching_ = true;
      device_.steps_->progress = std::move(progress);
    }
    ~ProgressOfLaunch() {
      device_.steps_->progress = py::none();
      device_.launching_ = false;
    }
    ProgressOfLaunch(const ProgressOfLaunch&) = delete;
    ProgressOfLaunch& operator=(const ProgressOfLaunch&) = delete;

   private:
    OwnDevice& device_;
  };
  std::shared_ptr<StepsThatPrint> steps_ = std::make_shared<StepsThatPrint>();
  bool launching_ = false;
  std::mutex mutex_;
  Device device_;
};

/// Throws for elements that are Python objects or big-endian numbers. `format`: as defined by PEP
/// 3118, with names of members between colons.
void check_numbers(const std::string& format) {
  bool in_name = false;
  for (const char c : format) {
    if (c == ':') in_name = !in_name;
    if (in_name) continue;
    if (c == 'O')
      throw py::type_error(
          "the array has Python's objects, which are no numbers - pass numpy.asarray(it, "
          "dtype=\"float32\") or another type");
    if (c == '>' || c == '!')
      throw py::type_error(
          "the array's numbers are big-endian, and a GPU's are not - pass "
          "it.astype(it.dtype.newbyteorder(\"=\"))");
  }
}

/// The bytes of an array of numbers. Throws if there are gaps between them.
std::span<std::byte> bytes_of(const py::buffer_info& info) {
  check_numbers(info.format);
  py::ssize_t step = info.itemsize;
  for (py::ssize_t i = info.ndim - 1; i >= 0; step *= info.shape[static_cast<size_t>(i)], --i)
    if (info.shape[static_cast<size_t>(i)] > 1 && info.strides[static_cast<size_t>(i)] != step)
      throw py::value_error("the array has gaps - pass numpy.ascontiguousarray(it)");
  return {static_cast<std::byte*>(info.ptr), static_cast<size_t>(info.size * info.itemsize)};
}

Extent extent_of(const std::vector<uint32_t>& e) {
  if (e.empty() || e.size() > 3)
    throw py::value_error("an extent has one to three numbers: x, y, z");
  return {e[0], e.size() > 1 ? e[1] : 1, e.size() > 2 ? e[2] : 1};
}

}  // namespace

void define_device(py::module_& m) {
  py::class_<OwnDevice>(m, "Device", collected<OwnDevice>())
      .def(py::init<py::object>(), py::arg("print") = py::none())
      .def("load",
           [](OwnDevice& d, const std::string& ptx, const std::string& name) {
             return d.alone([&](Device& device) { return device.load(ptx, name); });
           })
      .def("allocate",
           [](OwnDevice& d, uint64_t bytes, const std::string& name) {
             return d.alone([&](Device& device) { return device.allocate(bytes, name); });
           })
      .def("free", [](OwnDevice& d,
                      uint64_t at) { d.alone([&](Device& device) { return device.free(at); }); })
      .def("write",
           [](OwnDevice& d, uint64_t at, const py::buffer& from) {
             const py::buffer_info info = from.request();
             const std::span<const std::byte> bytes = bytes_of(info);
             d.alone([&](Device& device) { return device.write(at, bytes); });
           })
      .def("read",
           [](OwnDevice& d, uint64_t at, const py::buffer& into) {
             const py::buffer_info info = into.request(true);
             const std::span<std::byte> bytes = bytes_of(info);
             d.alone([&](Device& device) { return device.read(at, bytes); });
           })
      .def("launch",
           [](OwnDevice& d, uint32_t module, const std::string& kernel,
              const std::vector<uint32_t>& grid, const std::vector<uint32_t>& block,
              const std::string& arguments, uint32_t shared_bytes, py::object progress) {
             d.launch(module, kernel, extent_of(grid), extent_of(block), arguments, shared_bytes,
                      std::move(progress));
           })
      .def("take_program", [](OwnDevice& d, const std::string& name) {
        return d.alone([&](Device& device) { return device.take_program(name); });
      });
}

}  // namespace nearwarp
