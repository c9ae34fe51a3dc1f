// Launches and memory for CUDA's libraries here; compiled into each.
#include "host/functional/cudalibs/kernels.h"

#include <algorithm>
#include <utility>

#include "host/functional/cudalibs/own_kernels.h"
#include "host/functional/cudalibs/own_ptx.h"

namespace nearwarp::cudalibs {

namespace {

constexpr uint32_t kThreads = 256;
constexpr int64_t kMostBlocks = 1 << 20;  // kernels go round again

}  // namespace

void launch_blocks(const char* name, Dim blocks, uint32_t threads, const void* args,
                   Stream stream) {
  void* const kernel = own_kernel(name, own_ptx());
  void* pointers[] = {const_cast<void*>(args)};
  if (kernel == nullptr ||
      cudaLaunchKernel(kernel, blocks, {threads, 1, 1}, pointers, 0, stream) != 0)
    throw Problem::kLaunch;
}

void launch(const char* name, int64_t n, const void* args, Stream stream) {
  if (n <= 0) return;
  const int64_t blocks = std::min((n + kThreads - 1) / kThreads, kMostBlocks);
  launch_blocks(name, {static_cast<uint32_t>(blocks), 1, 1}, kThreads, args, stream);
}

Memory::Memory(size_t bytes) {
  if (bytes != 0 && cudaMalloc(&at_, bytes) != 0) throw Problem::kMemory;
}
Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(at_, other.at_);
  return *this;
}
Memory::~Memory() {
  if (at_ != nullptr) cudaFree(at_);
}

}  // namespace nearwarp::cudalibs
