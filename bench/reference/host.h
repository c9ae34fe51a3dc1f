// Stands for kernels/common.h and the CUDA runtime in the programs' host sides, on the virtual
// device.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/functional/device/virtual_device.h"

namespace nearwarp::reference {

class Host {
 public:
  Host(runtime::VirtualDevice& device, uint32_t module, std::vector<int> arguments)
      : device_(device), module_(module), arguments_(std::move(arguments)) {}

  /// An argument of the command line, or `otherwise` if it is missing; the first one has number 1.
  int argument(size_t i, int otherwise) const {
    return arguments_.size() >= i ? arguments_[i - 1] : otherwise;
  }
  /// The next random number (xorshift); every program begins with the same seed.
  uint32_t rnd() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_;
  }
  template <class T>
  runtime::DevicePtr to_device(const std::vector<T>& v) {
    return device_.upload(v);
  }
  template <class T>
  runtime::DevicePtr device_zeros(size_t n) {
    return device_.upload(std::vector<T>(n, T(0)));
  }
  template <class T>
  std::vector<T> to_host(runtime::DevicePtr p, size_t n) const {
    return device_.download<T>(p, n);
  }
  template <class T>
  void to_symbol(const std::string& symbol, const std::vector<T>& v) {
    device_.copy_to_device(device_.symbol(module_, symbol), v.data(), v.size() * sizeof(T));
  }
  runtime::VirtualDevice& device() { return device_; }

  /// `kernel`: its mangled name, as in the PTX.
  template <class... T>
  void launch(const char* kernel, runtime::Dim3 grid, runtime::Dim3 block, const T&... arguments) {
    device_.launch(module_, kernel, grid, block, 0, runtime::KernelArgs(arguments...));
  }

 private:
  runtime::VirtualDevice& device_;
  uint32_t module_;
  std::vector<int> arguments_;
  uint32_t state_ = 12345;
};

/// A grid or a block of one dimension.
inline runtime::Dim3 line_of(int n) { return {static_cast<uint32_t>(n), 1, 1}; }

}  // namespace nearwarp::reference
