// Functions of the CUDA runtime that device code may call.
#include "host/functional/ptx/device_calls.h"

namespace nearwarp::ptx {

namespace {

struct Name {
  std::string_view name;  // without prefix and suffix
  DeviceCall call;
};

constexpr Name kNames[] = {
    {"GetParameterBuffer", DeviceCall::kGetParameterBuffer},
    {"GetParameterBufferV2", DeviceCall::kGetParameterBufferV2},
    {"LaunchDevice", DeviceCall::kLaunchDevice},
    {"LaunchDeviceV2", DeviceCall::kLaunchDeviceV2},
    {"StreamCreateWithFlags", DeviceCall::kStreamCreateWithFlags},
    {"StreamDestroy", DeviceCall::kStreamDestroy},
    {"StreamWaitEvent", DeviceCall::kStreamWaitEvent},
    {"EventCreateWithFlags", DeviceCall::kEventCreateWithFlags},
    {"EventRecord", DeviceCall::kEventRecord},
    {"EventRecordWithFlags", DeviceCall::kEventRecordWithFlags},
    {"EventDestroy", DeviceCall::kEventDestroy},
    {"Malloc", DeviceCall::kMalloc},
    {"Free", DeviceCall::kFree},
    {"MemcpyAsync", DeviceCall::kMemcpyAsync},
    {"Memcpy2DAsync", DeviceCall::kMemcpy2DAsync},
    {"Memcpy3DAsync", DeviceCall::kMemcpy3DAsync},
    {"MemsetAsync", DeviceCall::kMemsetAsync},
    {"Memset2DAsync", DeviceCall::kMemset2DAsync},
    {"Memset3DAsync", DeviceCall::kMemset3DAsync},
    {"GetLastError", DeviceCall::kGetLastError},
    {"PeekAtLastError", DeviceCall::kPeekAtLastError},
    {"GetErrorString", DeviceCall::kGetErrorString},
    {"GetErrorName", DeviceCall::kGetErrorName},
    {"GetDeviceCount", DeviceCall::kGetDeviceCount},
    {"GetDevice", DeviceCall::kGetDevice},
    {"DeviceGetAttribute", DeviceCall::kDeviceGetAttribute},
    {"DeviceGetLimit", DeviceCall::kDeviceGetLimit},
    {"DeviceGetCacheConfig", DeviceCall::kDeviceGetCacheConfig},
    {"DeviceGetSharedMemConfig", DeviceCall::kDeviceGetSharedMemConfig},
    {"FuncGetAttributes", DeviceCall::kFuncGetAttributes},
    {"OccupancyMaxActiveBlocksPerMultiprocessor", DeviceCall::kOccupancy},
    {"OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", DeviceCall::kOccupancyWithFlags},
    {"RuntimeGetVersion", DeviceCall::kRuntimeGetVersion},
    {"GraphSetConditional", DeviceCall::kGraphSetConditional},
};

}  // namespace

DeviceCall device_call(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"__cudaCDP2", "cuda"}, kPerThread = "_ptsz";
  for (const std::string_view prefix : kPrefixes) {
    if (!name.starts_with(prefix)) continue;
    std::string_view rest = name.substr(prefix.size());
    if (rest.ends_with(kPerThread)) rest.remove_suffix(kPerThread.size());
    for (const Name& known : kNames)
      if (known.name == rest) return known.call;
  }
  return DeviceCall::kNone;
}

size_t num_arguments(DeviceCall call) {
  using Call = DeviceCall;
  switch (call) {
    case Call::kGetLastError:
    case Call::kPeekAtLastError:
      return 0;
    case Call::kStreamDestroy:
    case Call::kEventDestroy:
    case Call::kFree:
    case Call::kGetErrorString:
    case Call::kGetErrorName:
    case Call::kGetDeviceCount:
    case Call::kGetDevice:
    case Call::kDeviceGetCacheConfig:
    case Call::kDeviceGetSharedMemConfig:
    case Call::kRuntimeGetVersion:
      return 1;
    case Call::kStreamWaitEvent:
    case Call::kEventRecordWithFlags:
    case Call::kDeviceGetAttribute:
      return 3;
    case Call::kOccupancy:
    case Call::kMemsetAsync:
      return 4;
    case Call::kMemcpyAsync:
    case Call::kOccupancyWithFlags:
      return 5;
    case Call::kMemset2DAsync:
      return 6;
    case Call::kGetParameterBufferV2:  // kernel, grid, block, shared memory
    case Call::kMemcpy2DAsync:
      return 8;
    case Call::kMemset3DAsync:  // pitched pointer, value, extent, stream
      return 9;
    case Call::kLaunchDevice:  // kernel, parameters, grid, block, shared memory, stream
      return 10;
    default:
      return 2;
  }
}

}  // namespace nearwarp::ptx
