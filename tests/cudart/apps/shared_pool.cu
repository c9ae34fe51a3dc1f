// A child process works on memory of its parent's pool, which it gets as a descriptor.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "tests/cudart/apps/check.h"

constexpr int kN = 1000;
constexpr cudaMemAllocationHandleType kDescriptor = cudaMemHandleTypePosixFileDescriptor;

__global__ void add(int* p, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kN) p[i] += value;
}

struct Message {
  cudaMemPoolPtrExportData first, second;
};

/// Sends or receives a message together with a file descriptor.
static void exchange(int socket, Message* message, int* descriptor, bool sends) {
  iovec part = {message, sizeof(*message)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  cmsghdr* const rights = reinterpret_cast<cmsghdr*>(control);
  if (sends) {
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), descriptor, sizeof(int));
    CHECK(sendmsg(socket, &header, 0) == sizeof(*message));
  } else {
    CHECK(recvmsg(socket, &header, 0) == sizeof(*message));
    std::memcpy(descriptor, CMSG_DATA(rights), sizeof(int));
  }
}

static void child(int socket) {
  Message m;
  int descriptor = -1, *own, *p, *q;
  void* none;
  exchange(socket, &m, &descriptor, false);
  CUDA(cudaMalloc(&own, 4096));  // at the address that the parent's memory has there
  cudaMemPool_t pool, other;
  FAILS(cudaErrorInvalidValue,
        cudaMemPoolImportFromShareableHandle(&other, reinterpret_cast<void*>(intptr_t(socket)), kDescriptor, 0));
  FILE* const file = std::tmpfile();  // as large as the parent's memory, but no pool
  CHECK(file != nullptr && ftruncate(fileno(file), lseek(descriptor, 0, SEEK_END)) == 0);
  FAILS(cudaErrorInvalidValue,
        cudaMemPoolImportFromShareableHandle(&other, reinterpret_cast<void*>(intptr_t(fileno(file))), kDescriptor, 0));
  std::fclose(file);
  CUDA(cudaMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void*>(intptr_t(descriptor)), kDescriptor, 0));
  CHECK(close(descriptor) == 0);
  cudaMemPoolPtrExportData damaged = m.first;
  damaged.reserved[0] ^= 1;
  FAILS(cudaErrorInvalidValue, cudaMemPoolImportPointer(&none, pool, &damaged));
  damaged = m.first;
  damaged.reserved[8] ^= 1;  // the offset, at which no allocation begins
  FAILS(cudaErrorInvalidValue, cudaMemPoolImportPointer(&none, pool, &damaged));
  damaged = m.first;
  std::memset(damaged.reserved + 16, 0, 8);  // its size
  FAILS(cudaErrorInvalidValue, cudaMemPoolImportPointer(&none, pool, &damaged));
  CUDA(cudaMemPoolImportPointer(reinterpret_cast<void**>(&p), pool, &m.first));
  CUDA(cudaMemPoolImportPointer(reinterpret_cast<void**>(&q), pool, &m.second));
  FAILS(cudaErrorInvalidValue, cudaMallocFromPoolAsync(&none, 64, pool, nullptr));
  FAILS(cudaErrorInvalidValue, cudaDeviceSetMemPool(0, pool));
  add<<<(kN + 127) / 128, 128>>>(p, 5);
  add<<<(kN + 127) / 128, 128>>>(q, 7);
  CUDA(cudaFreeAsync(q, nullptr));
  FAILS(cudaErrorInvalidValue, cudaFreeAsync(q, nullptr));
  FAILS(cudaErrorInvalidValue, cudaIpcCloseMemHandle(p));
  CUDA(cudaMemPoolDestroy(pool));  // what was imported stays
  std::vector<int> host(kN);
  CUDA(cudaMemcpy(host.data(), p, kN * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kN; ++i) CHECK(host[i] == i + 5);
  CUDA(cudaFree(p));
  CHECK(write(socket, "x", 1) == 1);
  std::exit(0);
}

int main() {
  int sockets[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  std::fflush(stdout);
  const pid_t pid = fork();  // before either process uses the GPU
  if (pid == 0) {
    close(sockets[0]);
    child(sockets[1]);
  }
  close(sockets[1]);
  int types = 0;
  CUDA(cudaDeviceGetAttribute(&types, cudaDevAttrMemoryPoolSupportedHandleTypes, 0));
  CHECK(types == kDescriptor);
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t own, pool, none;
  CUDA(cudaMemPoolCreate(&own, &properties));
  properties.handleTypes = kDescriptor;
  CUDA(cudaMemPoolCreate(&pool, &properties));
  properties.handleTypes = cudaMemHandleTypeFabric;
  FAILS(cudaErrorNotSupported, cudaMemPoolCreate(&none, &properties));
  std::vector<int> host(kN);
  for (int i = 0; i < kN; ++i) host[i] = i;
  int *p, *q, *unshared, descriptor = -1;
  Message m;
  CUDA(cudaMallocFromPoolAsync(&unshared, 700, own, nullptr));  // so that the others begin within a page
  CUDA(cudaMallocFromPoolAsync(&p, kN * sizeof(int), pool, nullptr));
  CUDA(cudaMallocFromPoolAsync(&q, kN * sizeof(int), pool, nullptr));
  CUDA(cudaMemcpy(p, host.data(), kN * sizeof(int), cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(q, host.data(), kN * sizeof(int), cudaMemcpyHostToDevice));
  FAILS(cudaErrorInvalidValue, cudaMemPoolExportToShareableHandle(&descriptor, own, kDescriptor, 0));
  FAILS(cudaErrorInvalidValue, cudaMemPoolExportPointer(&m.first, unshared));
  CUDA(cudaMemPoolExportToShareableHandle(&descriptor, pool, kDescriptor, 0));
  CUDA(cudaMemPoolExportPointer(&m.first, p));
  CUDA(cudaMemPoolExportPointer(&m.second, q));
  exchange(sockets[0], &m, &descriptor, true);
  char done = 0;
  CHECK(read(sockets[0], &done, 1) == 1 && done == 'x');
  int status = -1;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  add<<<(kN + 127) / 128, 128>>>(q, 10);
  CUDA(cudaMemcpy(host.data(), q, kN * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kN; ++i) CHECK(host[i] == i + 17);
  CUDA(cudaFreeAsync(p, nullptr));
  CUDA(cudaFreeAsync(q, nullptr));
  CUDA(cudaFreeAsync(unshared, nullptr));
  CUDA(cudaStreamSynchronize(nullptr));
  return passed();
}
