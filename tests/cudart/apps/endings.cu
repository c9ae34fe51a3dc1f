// Launches a kernel and ends in one of the ways that programs end.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "tests/cudart/apps/check.h"

__global__ void put(int* p, int value) { p[threadIdx.x] = value; }

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "return";
  if (how == "nothing") return passed();
  if (how == "no-file") {
    std::puts("cannot open input.txt");
    return 2;
  }
  int count = 0;
  if (how == "asks" || how == "asks-and-exits") {  // queries devices, and launches nothing
    CUDA(cudaGetDeviceCount(&count));
    return how == "asks" ? passed() : 5;
  }
  if (how == "hidden") {
    FAILS(cudaErrorNoDevice, cudaGetDeviceCount(&count));
    CHECK(count == 0);
    CUDA(cudaRuntimeGetVersion(&count));
    put<<<1, 32>>>(nullptr, 5);
    CHECK(cudaGetLastError() == cudaErrorNoDevice);
    return passed();
  }
  if (how == "fork-first" && fork() == 0) _exit(0);
  int* device;
  CUDA(cudaMalloc(&device, 128));
  put<<<1, 32>>>(device, 5);
  CUDA(cudaDeviceSynchronize());
  std::puts("launched");
  std::fflush(stdout);
  if (how == "sleep") {
    std::fputs("launched\n", stderr);  // a test that waits for this line reads on at once
    sleep(60);
  }
  if (how == "exit") std::exit(3);
  if (how == "_exit") _exit(4);
  if (how == "abort") std::abort();
  if (how == "crash") *static_cast<volatile int*>(nullptr) = 1;
  if (how == "kill") raise(SIGKILL);
  if (how == "fork") {
    const pid_t child = fork();
    if (child == 0) _exit(cudaMalloc(&device, 4) == cudaErrorInitializationError ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    put<<<1, 32>>>(device, 6);
    CUDA(cudaDeviceSynchronize());
  }
  if (how == "exec") execlp("true", "true", nullptr);
  return passed();
}
