// Arrays in the simulated GPU's memory, for tests of CUDA's libraries that are built without a CUDA
// toolkit.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

extern "C" {
int cudaMalloc(void** pointer, size_t bytes);
int cudaFree(void* pointer);
int cudaMemcpy(void* to, const void* from, size_t bytes, int kind);
}

namespace nearwarp::cudalibs {

inline constexpr int kToDevice = 1, kToHost = 2;  // cudaMemcpyKind

/// An array on the device.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) : count_(values.size()) {
    EXPECT_EQ(cudaMalloc(&at_, std::max<size_t>(1, count_ * sizeof(T))), 0);
    EXPECT_EQ(cudaMemcpy(at_, values.data(), count_ * sizeof(T), kToDevice), 0);
  }
  explicit OnDevice(size_t count) : OnDevice(std::vector<T>(count)) {}
  ~OnDevice() { EXPECT_EQ(cudaFree(at_), 0); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  T* get() const { return static_cast<T*>(at_); }
  std::vector<T> values() const {
    std::vector<T> values(count_);
    EXPECT_EQ(cudaMemcpy(values.data(), at_, count_ * sizeof(T), kToHost), 0);
    return values;
  }

 private:
  void* at_ = nullptr;
  size_t count_;
};

}  // namespace nearwarp::cudalibs
