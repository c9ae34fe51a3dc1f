// Entry points that launch kernels as programs of before CUDA 4.0 do: block, shared memory and
// parameters are set one after the other, and stay with the kernel.
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

namespace {

constexpr size_t kMostParameterBytes = 4096;  // of CUDA at that time

struct Prepared {
  Dim block;
  unsigned shared_bytes = 0;
  std::vector<char> parameters;
};

struct AllPrepared {
  std::mutex mutex;
  std::unordered_map<const void*, Prepared> of;  ///< by kernel
};

AllPrepared& all_prepared() {
  static AllPrepared* const all = new AllPrepared;
  return *all;
}

/// `body(Prepared&)` of a kernel, under a lock.
template <class Body>
Status prepare(const void* function, Body&& body) {
  return call([&] {
    const char* name = nullptr;
    check(cudaFuncGetName(&name, function));
    const std::lock_guard lock(all_prepared().mutex);
    body(all_prepared().of[function]);
    return kSuccess;
  });
}

Status set_parameter(const void* function, int offset, const void* value, unsigned bytes) {
  return prepare(function, [&](Prepared& p) {
    require(offset >= 0 && value != nullptr);
    const size_t end = static_cast<size_t>(offset) + bytes;
    require(end <= kMostParameterBytes);
    if (p.parameters.size() < end) p.parameters.resize(end);
    std::memcpy(p.parameters.data() + offset, value, bytes);
  });
}

Status launch(const void* function, int width, int height, Stream stream) {
  Prepared p;
  const Status status = prepare(function, [&](const Prepared& kept) {
    require(width > 0 && height > 0);
    p = kept;
  });
  if (status != kSuccess) return status;
  return call([&] {
    size_t bytes = p.parameters.size();
    void* extra[] = {reinterpret_cast<void*>(1), p.parameters.data(), reinterpret_cast<void*>(2),
                     &bytes, nullptr};
    const cudart::LaunchConfig config = {
        {static_cast<unsigned>(width), static_cast<unsigned>(height), 1},
        p.block,
        p.shared_bytes,
        stream,
        nullptr,
        0};
    return nw_driver_launch(&config, function, nullptr, extra);
  });
}

}  // namespace

NW_CU cuFuncSetBlockShape(const void* function, int x, int y, int z) {
  return prepare(function, [&](Prepared& p) {
    require(x > 0 && y > 0 && z > 0);
    p.block = {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
  });
}
NW_CU cuFuncSetSharedSize(const void* function, unsigned bytes) {
  return prepare(function, [&](Prepared& p) { p.shared_bytes = bytes; });
}
NW_CU cuParamSetSize(const void* function, unsigned bytes) {
  return prepare(function, [&](Prepared& p) {
    require(bytes <= kMostParameterBytes);
    p.parameters.resize(bytes);
  });
}
NW_CU cuParamSeti(const void* function, int offset, unsigned value) {
  return set_parameter(function, offset, &value, sizeof(value));
}
NW_CU cuParamSetf(const void* function, int offset, float value) {
  return set_parameter(function, offset, &value, sizeof(value));
}
NW_CU cuParamSetv(const void* function, int offset, const void* value, unsigned bytes) {
  return set_parameter(function, offset, value, bytes);
}
NW_CU cuLaunch(const void* function) { return launch(function, 1, 1, nullptr); }
NW_CU cuLaunchGrid(const void* function, int width, int height) {
  return launch(function, width, height, nullptr);
}
NW_CU cuLaunchGridAsync(const void* function, int width, int height, Stream stream) {
  return launch(function, width, height, stream);
}

}  // namespace nearwarp::cudriver
