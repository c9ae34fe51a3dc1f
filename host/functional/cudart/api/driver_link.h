// Calls of the runtime library that libcuda.so.1 (host/functional/cudriver) makes beyond its entry
// points: one simulated device serves both.
#pragma once

#include <cstddef>

#include "host/functional/cudart/abi.h"
#include "host/functional/cudart/status/thread_state.h"

extern "C" {

/// The calling thread's state.
nearwarp::cudart::ThreadState* nw_driver_thread();
/// CUcontext that stands for the primary context.
void* nw_driver_primary_context(int device);
/// Has the device been made?
bool nw_driver_has_device();
/// Has the application called the runtime in a way that made its primary context active?
bool nw_driver_runtime_used();

/// Print "nearwarp: MESSAGE" to standard error, each text only once.
void nw_driver_say_once(const char* message);

/// Start and size of the allocation that `pointer` lies in.
nearwarp::cudart::Status nw_driver_range(const void* pointer, void** start, size_t* bytes);
/// Fill memory with elements of 1, 2 or 4 bytes.
nearwarp::cudart::Status nw_driver_fill(const nearwarp::cudart::MemsetParams* fill,
                                        nearwarp::cudart::Stream stream);
/// The library that a kernel belongs to.
nearwarp::cudart::Status nw_driver_library_of(void** library, const void* kernel);
/// Receives texts; `to` is the caller's.
using NwGiveText = void (*)(void* to, const char* text, size_t bytes);
/// The PTX in code of `bytes` bytes: text, or that of a fat binary for the device.
nearwarp::cudart::Status nw_driver_read_ptx(const void* code, size_t bytes, NwGiveText give,
                                            void* to);
/// Links PTX of several units; what comes of it can be loaded as PTX. If it cannot be linked,
/// `problem` is called instead of `give`.
nearwarp::cudart::Status nw_driver_link_ptx(const char* const* units, size_t count, NwGiveText give,
                                            NwGiveText problem, void* to);

/// cudaLaunchKernelExC(), with `extra`, the driver's other way to hand over arguments.
nearwarp::cudart::Status nw_driver_launch(const nearwarp::cudart::LaunchConfig* config,
                                          const void* kernel, void** args, void** extra);
}
