// By what device memory that is a file, and allocations in it, are known to other processes.
#pragma once

#include <fcntl.h>

#include <cstdint>

namespace nearwarp::runtime {

constexpr uint64_t kAllocationAlignment = 512;  // as cudaMalloc's

/// Seals of such a file: its size stays, so that what others have mapped stays there.
constexpr int kSharedMemorySeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

inline bool is_shared_memory(int file) { return fcntl(file, F_GET_SEALS) == kSharedMemorySeals; }

}  // namespace nearwarp::runtime
