// Entry points of contexts and of initialisation.
#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

namespace {

constexpr unsigned kContextFlags = 0xff, kApiVersion = 3020;
constexpr int kLimitsOfRuntime = 7;  // further ones are of hardware that is not there

Status create(void** context, unsigned flags, Device device) {
  return call(Needs::kInitialization, [&] {
    require(context != nullptr && (flags & ~kContextFlags) == 0);
    check_device(device);
    *context = create_context(flags, device);
    return kSuccess;
  });
}

/// Makes a call that needs the current context.
template <class Body>
Status with_context(Body&& body) {
  return call([&] {
    body(checked_context(nullptr));
    return kSuccess;
  });
}

}  // namespace

NW_CU cuInit(unsigned flags) {
  return call(Needs::kNothing, [&] {
    require(flags == 0);
    int count = 0;
    check(cudaGetDeviceCount(&count));
    initialize();
    return kSuccess;
  });
}
NW_CU cuDriverGetVersion(int* version) {
  return call(Needs::kNothing, [&] { return cudaDriverGetVersion(version); });
}

NW_CU cuCtxCreate_v2(void** context, unsigned flags, Device device) {
  return create(context, flags, device);
}
/// Affinity to a part of the SMs is a hint.
NW_CU cuCtxCreate_v3(void** context, const void*, int, unsigned flags, Device device) {
  return create(context, flags, device);
}
NW_CU cuCtxCreate_v4(void** context, const void*, unsigned flags, Device device) {
  return create(context, flags, device);
}
NW_CU cuCtxDestroy_v2(void* context) {
  return call(Needs::kInitialization, [&] {
    destroy_context(context);
    return kSuccess;
  });
}
NW_CU cuCtxPushCurrent_v2(void* context) {
  return call(Needs::kInitialization, [&] {
    require(context != nullptr, kErrorInvalidContext);
    push_context(context);
    return kSuccess;
  });
}
NW_CU cuCtxPopCurrent_v2(void** context) {
  return call(Needs::kInitialization, [&] {
    void* const top = pop_context();
    if (context != nullptr) *context = top;
    return kSuccess;
  });
}
NW_CU cuCtxSetCurrent(void* context) {
  return call(Needs::kInitialization, [&] {
    set_context(context);
    return kSuccess;
  });
}
NW_CU cuCtxGetCurrent(void** context) {
  return call(Needs::kInitialization, [&] {
    require(context != nullptr);
    *context = current_context();
    return kSuccess;
  });
}
NW_CU cuCtxGetDevice(Device* device) {
  return call([&] {
    require(device != nullptr);
    *device = checked_context(nullptr).device;
    return kSuccess;
  });
}
NW_CU cuCtxGetDevice_v2(Device* device, void* context) {
  return call(Needs::kInitialization, [&] {
    require(device != nullptr);
    *device = checked_context(context).device;
    return kSuccess;
  });
}
NW_CU cuCtxGetId(void* context, unsigned long long* id) {
  return call(Needs::kInitialization, [&] {
    require(id != nullptr);
    *id = checked_context(context).id;
    return kSuccess;
  });
}
NW_CU cuCtxGetApiVersion(void* context, unsigned* version) {
  return call(Needs::kInitialization, [&] {
    require(version != nullptr);
    checked_context(context);
    *version = kApiVersion;
    return kSuccess;
  });
}
NW_CU cuCtxGetFlags(unsigned* flags) {
  return with_context([&](const Context& context) {
    require(flags != nullptr);
    *flags = context.flags;
  });
}
NW_CU cuCtxSetFlags(unsigned flags) {
  return with_context([&](Context& context) {
    require((flags & ~kContextFlags) == 0);
    context.flags = flags;
  });
}

NW_CU cuCtxSynchronize() { return forward(cudaDeviceSynchronize); }
NW_CU cuCtxSynchronize_v2(void* context) {
  return call(Needs::kInitialization, [&] {
    checked_context(context);
    return cudaDeviceSynchronize();
  });
}
NW_CU cuCtxSetLimit(int limit, size_t value) {
  return call([&] {
    require(limit >= 0 && limit < kLimitsOfRuntime, kErrorUnsupportedLimit);
    return cudaDeviceSetLimit(limit, value);
  });
}
NW_CU cuCtxGetLimit(size_t* value, int limit) {
  return call([&] {
    require(limit >= 0 && limit < kLimitsOfRuntime, kErrorUnsupportedLimit);
    return cudaDeviceGetLimit(value, limit);
  });
}
/// A preference that the simulated caches do not have.
NW_CU cuCtxSetCacheConfig(int config) {
  return with_context([&](Context& context) {
    require(config >= 0 && config <= 3);
    context.cache_config = config;
  });
}
NW_CU cuCtxGetCacheConfig(int* config) {
  return with_context([&](const Context& context) {
    require(config != nullptr);
    *config = context.cache_config;
  });
}
NW_CU cuCtxSetSharedMemConfig(int config) { return forward(cudaDeviceSetSharedMemConfig, config); }
NW_CU cuCtxGetSharedMemConfig(int* config) { return forward(cudaDeviceGetSharedMemConfig, config); }
NW_CU cuCtxResetPersistingL2Cache() { return forward(cudaCtxResetPersistingL2Cache); }
NW_CU cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return forward(cudaDeviceGetStreamPriorityRange, least, greatest);
}

NW_CU cuCtxEnablePeerAccess(void* context, unsigned flags) {
  return call([&] { return cudaDeviceEnablePeerAccess(checked_context(context).device, flags); });
}
NW_CU cuCtxDisablePeerAccess(void* context) {
  return call([&] {
    const Device peer = checked_context(context).device;
    // A context has never enabled access to its own device.
    if (peer == nw_driver_thread()->device) return kErrorPeerAccessNotEnabled;
    return cudaDeviceDisablePeerAccess(peer);
  });
}

// --- The primary context -------------------------------------------------------------------------

NW_CU cuDevicePrimaryCtxRetain(void** context, Device device) {
  return call(Needs::kInitialization, [&] {
    require(context != nullptr);
    check_device(device);
    *context = retain_primary_context(device);
    return kSuccess;
  });
}
NW_CU cuDevicePrimaryCtxRelease_v2(Device device) {
  return call(Needs::kInitialization, [&] {
    check_device(device);
    release_primary_context(device);
    return kSuccess;
  });
}
NW_CU cuDevicePrimaryCtxReset_v2(Device device) {
  return call(Needs::kInitialization, [&] {
    check_device(device);
    reset_primary_context(device);
    return kSuccess;
  });
}
NW_CU cuDevicePrimaryCtxSetFlags_v2(Device device, unsigned flags) {
  return call(Needs::kInitialization, [&] {
    check_device(device);
    require((flags & ~kContextFlags) == 0);
    primary_context(device).flags = flags;
    return kSuccess;
  });
}
NW_CU cuDevicePrimaryCtxGetState(Device device, unsigned* flags, int* active) {
  return call(Needs::kInitialization, [&] {
    check_device(device);
    require(flags != nullptr && active != nullptr);
    *flags = primary_context(device).flags;
    *active = primary_context_active(device) ? 1 : 0;
    return kSuccess;
  });
}

// Earlier versions of the same.
NW_CU cuCtxDestroy(void* context) { return cuCtxDestroy_v2(context); }
NW_CU cuCtxPushCurrent(void* context) { return cuCtxPushCurrent_v2(context); }
NW_CU cuCtxPopCurrent(void** context) { return cuCtxPopCurrent_v2(context); }
NW_CU cuDevicePrimaryCtxRelease(Device device) { return cuDevicePrimaryCtxRelease_v2(device); }
NW_CU cuDevicePrimaryCtxReset(Device device) { return cuDevicePrimaryCtxReset_v2(device); }
NW_CU cuDevicePrimaryCtxSetFlags(Device device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

// --- Events of a context -------------------------------------------------------------------------

NW_CU cuCtxRecordEvent(void* context, void* event) {
  return call([&] {
    checked_context(context);
    return cudaEventRecord(event, nullptr);
  });
}
NW_CU cuCtxWaitEvent(void* context, void* event) {
  return call([&] {
    checked_context(context);
    return cudaStreamWaitEvent(nullptr, event, 0);
  });
}

}  // namespace nearwarp::cudriver
