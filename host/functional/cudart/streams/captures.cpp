// Rules of captures: the calls that are forbidden, and for which threads.
#include "host/functional/cudart/streams/captures.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "host/functional/cudart/status/failure.h"

namespace nearwarp::cudart {

namespace {

/// Calls that every capture forbids, whatever its mode, since they wait for all work of the device.
constexpr auto kDeviceWide =
    std::to_array<std::string_view>({"cudaDeviceReset", "cudaDeviceSynchronize"});

/// Calls that may wait implicitly for work ("potentially unsafe" in CUDA's reference, which does
/// not list them): they allocate, register and free memory outside of the streams' order. The modes
/// decide whether a capture forbids them. (Queries of events are unsafe, too; cudaEventQuery()
/// calls check_unsafe() itself, after it has looked whether the event is a captured one.)
constexpr auto kUnsafe = std::to_array<std::string_view>(
    {"cudaFree", "cudaFreeArray", "cudaFreeHost", "cudaFreeMipmappedArray", "cudaHostAlloc",
     "cudaHostRegister", "cudaHostUnregister", "cudaIpcCloseMemHandle", "cudaIpcOpenMemHandle",
     "cudaMalloc", "cudaMalloc3D", "cudaMalloc3DArray", "cudaMallocArray", "cudaMallocHost",
     "cudaMallocManaged", "cudaMallocMipmappedArray", "cudaMallocPitch"});

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Does the capture forbid a thread with this mode the calls of kUnsafe? The rules are those of
/// cudaThreadExchangeStreamCaptureMode().
bool forbids_unsafe(const Capture& capture, CaptureMode mode) {
  if (mode == CaptureMode::kRelaxed || capture.mode == CaptureMode::kRelaxed) return false;
  const bool is_own = capture.thread == std::this_thread::get_id();
  return is_own || (mode == CaptureMode::kGlobal && capture.mode == CaptureMode::kGlobal);
}

}  // namespace

void Capture::check_valid() const { cudart::require(is_valid, kErrorStreamCaptureInvalidated); }

void Capture::fail(Status status) {
  is_valid = false;
  throw Failure{status};
}

Capture* Captures::begin(const Capture& capture) {
  return all_.emplace_back(std::make_unique<Capture>(capture)).get();
}

void Captures::end(const Capture* capture) {
  std::erase_if(all_, [&](const auto& own) { return own.get() == capture; });
}

template <class Forbids>
void Captures::fail(Forbids&& forbids) {
  bool is_forbidden = false;
  for (const auto& capture : all_) {
    if (!forbids(*capture)) continue;
    capture->is_valid = false;
    is_forbidden = true;
  }
  require(!is_forbidden, kErrorStreamCaptureUnsupported);
}

void Captures::check_call(const char* function, CaptureMode mode) {
  if (contains(kDeviceWide, function))
    fail([](const Capture&) { return true; });
  else if (contains(kUnsafe, function))
    check_unsafe(mode);
}

void Captures::check_unsafe(CaptureMode mode) {
  fail([mode](const Capture& capture) { return forbids_unsafe(capture, mode); });
}

}  // namespace nearwarp::cudart
