// What CUDA's libraries here share; compiled into each.
#include "host/functional/cudalibs/kernels.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "host/functional/cudalibs/own_ptx.h"

namespace nearwarp::cudalibs {

namespace {

constexpr uint32_t kThreads = 256;
constexpr int64_t kMostBlocks = 1 << 20;  // kernels go round again

/// Kernels by name. Never destroyed: applications may call when the library's objects would be
/// gone.
void* kernel(const std::string& name) {
  static std::mutex* const mutex = new std::mutex;
  static auto* const all = new std::unordered_map<std::string, void*>;
  static void* library = nullptr;
  const std::lock_guard lock(*mutex);
  void*& found = (*all)[name];
  if (found != nullptr) return found;
  if (library == nullptr &&
      cudaLibraryLoadData(&library, own_ptx(), nullptr, nullptr, 0, nullptr, nullptr, 0) != 0)
    throw Problem::kLaunch;
  if (cudaLibraryGetKernel(&found, library, name.c_str()) != 0) throw Problem::kLaunch;
  return found;
}

}  // namespace

void launch_blocks(const char* name, Dim blocks, uint32_t threads, const void* args,
                   Stream stream) {
  void* pointers[] = {const_cast<void*>(args)};
  if (cudaLaunchKernel(kernel(name), blocks, {threads, 1, 1}, pointers, 0, stream) != 0)
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

void say_not_supported(const char* function, const char* what, const char* library,
                       const char* status) {
  static std::mutex* const mutex = new std::mutex;
  static auto* const said = new std::set<std::string>;
  const std::string text =
      std::string("nearwarp: ") + function + "()" + (*what != '\0' ? " " : "") + what +
      " is not supported by nearwarp's own " + library + ": it returns " + status + "\n";
  const std::lock_guard lock(*mutex);
  if (said->insert(text).second) std::fputs(text.c_str(), stderr);
}

}  // namespace nearwarp::cudalibs
