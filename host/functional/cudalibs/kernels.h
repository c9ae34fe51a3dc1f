// What CUDA's libraries here share: kernels from PTX that ships with them, memory, and how a call
// ends.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearwarp::cudalibs {

/// dim3
struct Dim {
  uint32_t x = 1, y = 1, z = 1;
};
using Stream = void*;  // cudaStream_t

extern "C" {
int cudaLibraryLoadData(void** library, const void* code, const int* options, void** values,
                        unsigned num_options, const int* library_options, void** library_values,
                        unsigned num_library_options);
int cudaLibraryGetKernel(void** kernel, void* library, const char* name);
int cudaLaunchKernel(const void* function, Dim grid, Dim block, void** args, size_t shared_bytes,
                     Stream stream);
int cudaMalloc(void** pointer, size_t bytes);
int cudaMallocAsync(void** pointer, size_t bytes, Stream stream);
int cudaFree(void* pointer);
int cudaFreeAsync(void* pointer, Stream stream);
int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind, Stream stream);
int cudaMemsetAsync(void* to, int value, size_t bytes, Stream stream);
int cudaStreamSynchronize(Stream stream);
}
inline constexpr int kCopyDefault = 4;  // cudaMemcpyDefault

/// What went wrong below the library: a launch, memory.
enum class Problem { kLaunch, kMemory };

/// Launch the kernel of that name, of the library's PTX, whose one parameter is `args`; `n` threads
/// have something to do. Throws Problem.
void launch(const char* name, int64_t n, const void* args, Stream stream);
/// The same with these thread blocks, of `threads` threads.
void launch_blocks(const char* name, Dim blocks, uint32_t threads, const void* args, Stream stream);

/// Device memory, as long as it lives. Throws Problem.
class Memory {
 public:
  Memory() = default;
  explicit Memory(size_t bytes);
  Memory(Memory&& other) noexcept : at_(other.at_) { other.at_ = nullptr; }
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();
  void* get() const { return at_; }

 private:
  void* at_ = nullptr;
};

/// Once for each text, on standard error: `function`() of this library, with what, is not
/// supported, and returns that status.
void say_not_supported(const char* function, const char* what, const char* library,
                       const char* status);

}  // namespace nearwarp::cudalibs
