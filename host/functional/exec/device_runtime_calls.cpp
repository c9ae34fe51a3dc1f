// The entry points of the CUDA runtime in device code: they decode arguments and return results.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "host/functional/exec/device_fault.h"
#include "host/functional/exec/device_runtime.h"
#include "host/functional/exec/device_status.h"

namespace nearwarp::runtime {

using namespace device_status;  // NOLINT(google-build-using-namespace)
using ptx::DeviceCall;

namespace {

constexpr uint64_t kFirstHandle = 0x5e00'0000'0000;
constexpr uint64_t kNonBlocking = 1, kDisableTiming = 2;  // the only flags that device code may use
constexpr uint64_t kMostSlice = UINT64_MAX;               // of bytes or rows, in 64 bits
constexpr int kRuntimeVersion = 13000;

Dim3 dim3_of(std::span<const uint64_t> args) {
  return {static_cast<uint32_t>(args[0]), static_cast<uint32_t>(args[1]),
          static_cast<uint32_t>(args[2])};
}

}  // namespace

int DeviceRuntime::copy_3d(uint64_t parameters, uint64_t stream, const Thread& thread) {
  struct Side {
    uint64_t array, position[3], pointer, pitch, xsize, ysize;
    uint64_t slice() const { return pitch * ysize; }
  };
  struct {  // cudaMemcpy3DParms
    Side src, dst;
    uint64_t extent[3];
  } p;
  const uint8_t* at = thread.memory(parameters, sizeof(p));
  if (at == nullptr) return kInvalidValue;
  std::memcpy(&p, at, sizeof(p));
  if (p.src.array != 0 || p.dst.array != 0) return kNotSupported;
  // Slices do not overlap; a height of 0 is that of the copy.
  for (Side* const side : {&p.src, &p.dst}) {
    if (side->ysize == 0) side->ysize = p.extent[1];
    const uint64_t rows = std::max<uint64_t>(side->ysize, 1);
    if (p.extent[2] > 1 && (rows < p.extent[1] || side->pitch > kMostSlice / rows))
      return kInvalidValue;
  }
  const auto begin = [](const Side& s) {
    return s.pointer + s.position[2] * s.slice() + s.position[1] * s.pitch + s.position[0];
  };
  Transfer t;
  t.dst = begin(p.dst);
  t.dst_pitch = p.dst.pitch;
  t.dst_slice = p.dst.slice();
  t.src = begin(p.src);
  t.src_pitch = p.src.pitch;
  t.src_slice = p.src.slice();
  t.width = p.extent[0];
  t.height = p.extent[1];
  t.depth = p.extent[2];
  return transfer(t, stream);
}

template <class T>
void DeviceRuntime::store(const Thread& thread, uint64_t address, T value) const {
  uint8_t* to = thread.memory(address, sizeof(T));
  if (to == nullptr)
    throw DeviceFault(DeviceFault::Kind::kIllegalAddress,
                      fmt::format("a call of the CUDA runtime by kernel {} shall store its result "
                                  "at {:#x}, where there is no memory",
                                  kernel_->name, address));
  std::memcpy(to, &value, sizeof(T));
}

/// The device address of an error's name or text, which is copied there as device code can read
/// only device memory.
uint64_t DeviceRuntime::string(int status, bool name) {
  const auto [it, is_new] = strings_.try_emplace({status, name}, 0);
  if (is_new) {
    const std::string text = name ? services_->error_name(status) : services_->error_text(status);
    it->second = buffers_.allocate(text.size() + 1);
    if (it->second != 0) {
      std::memcpy(memory_.host(it->second, text.size() + 1, "the name of an error"), text.c_str(),
                  text.size() + 1);
      memory_.note_written(it->second, text.size() + 1);
    }
  }
  return it->second;
}

uint64_t DeviceRuntime::call(DeviceCall which, std::span<const uint64_t> a, const Thread& thread,
                             DeviceHeap* heap) {
  switch (which) {
    case DeviceCall::kGetParameterBuffer: {
      const uint64_t buffer = parameter_buffer({}, a[1]);
      if (buffer == 0) fail(thread, kLaunchOutOfResources);
      return buffer;
    }
    case DeviceCall::kGetParameterBufferV2: {
      GridConfig config = kernel_at(a[0]);
      config.grid = dim3_of(a.subspan(1));
      config.block = dim3_of(a.subspan(4));
      config.dynamic_shared_bytes = static_cast<uint32_t>(a[7]);
      if (fail(thread, check(config)) != kSuccess) return 0;
      const uint64_t buffer = parameter_buffer(config, config.kernel->param_bytes);
      if (buffer == 0) fail(thread, kLaunchOutOfResources);
      return buffer;
    }
    case DeviceCall::kGetErrorString:
      return string(static_cast<int>(a[0]), false);
    case DeviceCall::kGetErrorName:
      return string(static_cast<int>(a[0]), true);
    case DeviceCall::kGetLastError:
    case DeviceCall::kPeekAtLastError: {
      const auto it = errors_.find(thread.id);
      if (it == errors_.end()) return kSuccess;
      const int status = it->second;
      if (which == DeviceCall::kGetLastError) errors_.erase(it);
      return static_cast<uint64_t>(status);
    }
    default:
      return static_cast<uint64_t>(fail(thread, status_call(which, a, thread, heap)));
  }
}

int DeviceRuntime::status_call(DeviceCall which, std::span<const uint64_t> a, const Thread& thread,
                               DeviceHeap* heap) {
  switch (which) {
    case DeviceCall::kLaunchDevice: {
      GridConfig config = kernel_at(a[0]);
      config.grid = dim3_of(a.subspan(2));
      config.block = dim3_of(a.subspan(5));
      config.dynamic_shared_bytes = static_cast<uint32_t>(a[8]);
      return launch(config, a[1], a[9]);
    }
    case DeviceCall::kLaunchDeviceV2: {
      const auto it = configs_.find(a[0]);
      if (it == configs_.end() || it->second.kernel == nullptr) return kInvalidValue;
      const GridConfig config = it->second;
      return launch(config, a[0], a[1]);
    }
    case DeviceCall::kStreamCreateWithFlags:
    case DeviceCall::kEventCreateWithFlags: {
      const bool is_stream = which == DeviceCall::kStreamCreateWithFlags;
      if (a[1] != (is_stream ? kNonBlocking : kDisableTiming)) return kInvalidValue;
      const uint64_t handle = kFirstHandle + 16 * next_handle_++;
      (is_stream ? streams_ : events_).insert(handle);
      store(thread, a[0], handle);
      return kSuccess;
    }
    case DeviceCall::kGraphSetConditional:
      return services_->set_condition(a[0], static_cast<uint32_t>(a[1])) ? kSuccess : kInvalidValue;
    case DeviceCall::kStreamDestroy:
      return streams_.erase(a[0]) != 0 ? kSuccess : kInvalidResourceHandle;
    case DeviceCall::kEventDestroy:
      return events_.erase(a[0]) != 0 ? kSuccess : kInvalidResourceHandle;
    // Work is executed in the order of the calls, so the work before an event is already done when
    // something waits for the event.
    case DeviceCall::kStreamWaitEvent:
    case DeviceCall::kEventRecord:
    case DeviceCall::kEventRecordWithFlags: {
      const bool wait = which == DeviceCall::kStreamWaitEvent;
      const uint64_t stream = wait ? a[0] : a[1], event = wait ? a[1] : a[0];
      if (stream > kBlockStreams && !streams_.contains(stream)) return kInvalidResourceHandle;
      if (a.size() > 2 && a[2] != 0) return kInvalidValue;
      return events_.contains(event) ? kSuccess : kInvalidResourceHandle;
    }
    case DeviceCall::kMalloc: {
      const uint64_t address = heap != nullptr ? heap->allocate(a[1]) : 0;
      store(thread, a[0], address);
      return address != 0 ? kSuccess : kMemoryAllocation;
    }
    case DeviceCall::kFree:
      return a[0] == 0 || (heap != nullptr && heap->free(a[0])) ? kSuccess : kInvalidValue;
    case DeviceCall::kMemcpyAsync: {
      Transfer t;
      t.dst = a[0];
      t.src = a[1];
      t.width = a[2];
      return transfer(t, a[4]);
    }
    case DeviceCall::kMemcpy2DAsync: {
      Transfer t;
      t.dst = a[0];
      t.dst_pitch = a[1];
      t.src = a[2];
      t.src_pitch = a[3];
      t.width = a[4];
      t.height = a[5];
      return transfer(t, a[7]);
    }
    case DeviceCall::kMemcpy3DAsync:
      return copy_3d(a[0], a[1], thread);
    case DeviceCall::kMemsetAsync: {
      Transfer t;
      t.fill = true;
      t.dst = a[0];
      t.value = static_cast<uint8_t>(a[1]);
      t.width = a[2];
      return transfer(t, a[3]);
    }
    case DeviceCall::kMemset2DAsync: {
      Transfer t;
      t.fill = true;
      t.dst = a[0];
      t.dst_pitch = a[1];
      t.value = static_cast<uint8_t>(a[2]);
      t.width = a[3];
      t.height = a[4];
      return transfer(t, a[5]);
    }
    case DeviceCall::kMemset3DAsync: {  // pointer, pitch, sizes, value, extent, stream
      Transfer t;
      t.fill = true;
      t.dst = a[0];
      t.dst_pitch = a[1];
      t.value = static_cast<uint8_t>(a[4]);
      t.width = a[5];
      t.height = a[6];
      t.depth = a[7];
      if (t.depth > 1 && a[1] > kMostSlice / std::max<uint64_t>(a[3], 1)) return kInvalidValue;
      t.dst_slice = a[1] * a[3];
      if (t.depth > 1 && a[3] <= t.height) {
        // Slices that touch or overlap are one of all their rows.
        if (a[3] != 0 && t.depth - 1 > (kMostSlice - t.height) / a[3]) return kInvalidValue;
        t.height += (t.depth - 1) * a[3];
        t.depth = 1;
      }
      return transfer(t, a[8]);
    }
    default:
      return query(which, a, thread);
  }
}

int DeviceRuntime::query(DeviceCall which, std::span<const uint64_t> a, const Thread& thread) {
  int value = 0;
  int status = kSuccess;
  switch (which) {
    case DeviceCall::kGetDeviceCount:
      value = 1;
      break;
    case DeviceCall::kGetDevice:
    case DeviceCall::kDeviceGetCacheConfig:  // no preference
      break;
    case DeviceCall::kDeviceGetSharedMemConfig:
      value = 1;  // banks of four bytes
      break;
    case DeviceCall::kRuntimeGetVersion:
      value = kRuntimeVersion;
      break;
    case DeviceCall::kDeviceGetAttribute:
      if (a[2] != 0) return kInvalidDevice;
      status = services_->attribute(static_cast<int>(a[1]), &value);
      break;
    case DeviceCall::kDeviceGetLimit: {
      uint64_t limit = 0;
      status = services_->limit(static_cast<int>(a[1]), &limit);
      if (status == kSuccess) store(thread, a[0], limit);
      return status;
    }
    case DeviceCall::kFuncGetAttributes: {
      const GridConfig config = kernel_at(a[1]);
      if (config.kernel == nullptr) return kInvalidDeviceFunction;
      std::array<uint8_t, DeviceServices::kFunctionAttributesBytes> bytes{};
      status = services_->function_attributes(config, bytes.data(), bytes.size());
      if (status == kSuccess) store(thread, a[0], bytes);
      return status;
    }
    case DeviceCall::kOccupancy:
    case DeviceCall::kOccupancyWithFlags: {
      GridConfig config = kernel_at(a[1]);
      if (config.kernel == nullptr) return kInvalidDeviceFunction;
      config.block = {static_cast<uint32_t>(a[2]), 1, 1};
      config.dynamic_shared_bytes = static_cast<uint32_t>(a[3]);
      status = services_->blocks_per_sm(config, &value);
      break;
    }
    default:
      return kNotSupported;
  }
  if (status == kSuccess) store(thread, a[0], value);
  return status;
}

}  // namespace nearwarp::runtime
