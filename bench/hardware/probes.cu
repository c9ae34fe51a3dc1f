// The probes on a real GPU: the kernels of bench/probes with host sides for CUDA's runtime. The first
// argument says which; each prints "PROBE name value unit" and whether its result is right.
//
// Latencies are those of nearwarp probe: two loops of as many rounds with eight and sixteen loads each,
// between which nothing but loads lies. Bandwidths are differences of two numbers of rounds, too, so that
// what a launch takes is in neither. Both are in time: bench/hardware/run makes cycles of it.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "bench/probes/probes.cu"
namespace of_clusters {
#undef EIGHT
#include "bench/probes/clusters.cu"
}  // namespace of_clusters

namespace {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::printf("%s: %s\nCHECK FAILED\n", what, cudaGetErrorString(status));
  std::exit(1);
}

/// Keeps its SM busy for some nanoseconds: a clock of the SM and one of time, before and behind.
__global__ void watch_clocks(long long nanoseconds, long long* out) {
  long long begin, end;
  const long long clock = clock64();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
  while (end - begin < nanoseconds);
  const long long clocks = clock64() - clock;
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  out[0] = clocks;
  out[1] = end - begin;
}
__global__ void empty() {}

template <class F>
double nanoseconds(F&& launch) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  launch();
  check(cudaDeviceSynchronize(), "launch");
  float best = 1e30f;
  for (int i = 0; i < 5; ++i) {
    check(cudaEventRecord(begin), "record");
    launch();
    check(cudaEventRecord(end), "record");
    check(cudaEventSynchronize(end), "launch");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "time");
    if (milliseconds < best) best = milliseconds;
  }
  return best * 1e6;
}

int multiprocessors() {
  int sms = 0;
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "attribute");
  return sms;
}

/// The rate of the SMs' clock when all of them have been busy for so long, by the next tenth of it.
double sm_mhz(int milliseconds) {
  long long *out, clocks[2];
  check(cudaMalloc(&out, sizeof(clocks)), "memory");
  const long long nanoseconds = milliseconds * 1'000'000LL;
  watch_clocks<<<multiprocessors(), 512>>>(nanoseconds, out);
  watch_clocks<<<multiprocessors(), 512>>>(nanoseconds / 10, out);
  check(cudaMemcpy(clocks, out, sizeof(clocks), cudaMemcpyDeviceToHost), "clock");
  return clocks[1] > 0 ? 1e3 * static_cast<double>(clocks[0]) / static_cast<double>(clocks[1]) : 0;
}

int done(const char* name, double value, const char* unit, bool ok = true) {
  std::printf("PROBE %s %.3f %s\nCHECK %s\n", name, value, unit, ok ? "OK" : "FAILED");
  return ok ? 0 : 1;
}

/// Time of a load, from launches of one thread with 8 and 16 loads in a round.
template <class F>
int latency(const char* name, int rounds, F&& launch) {
  const double eight = nanoseconds([&] { launch(8, rounds); });
  const double sixteen = nanoseconds([&] { launch(16, rounds); });
  return done(name, (sixteen - eight) / (8.0 * rounds), "ns");
}

/// Pointers through `bytes` of memory in random order, a line each.
int chase(const char* name, size_t bytes, int rounds) {
  const size_t lines = bytes / 128;
  std::vector<size_t> order(lines);
  for (size_t i = 0; i < lines; ++i) order[i] = i;
  std::mt19937 random(1);
  for (size_t i = lines - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
  char* data;
  void** out;
  check(cudaMalloc(&data, bytes), "memory");
  check(cudaMalloc(&out, 8), "memory");
  std::vector<char> image(bytes);
  for (size_t i = 0; i < lines; ++i) {
    void* const next = data + order[(i + 1) % lines] * 128;
    std::memcpy(&image[order[i] * 128], &next, 8);
  }
  check(cudaMemcpy(data, image.data(), bytes, cudaMemcpyHostToDevice), "copy");
  void** const first = reinterpret_cast<void**>(data + order[0] * 128);
  return latency(name, rounds, [&](int each, int n) {
    if (each == 8) {
      chase_loads<<<1, 1>>>(first, n, out);
    } else {
      chase_loads_16<<<1, 1>>>(first, n, out);
    }
  });
}

/// Streams of all SMs through `bytes` of memory, again and again: GB/s of what is read and written, by
/// what the last three quarters of the rounds take.
int stream(const char* name, size_t bytes, int streams, int rounds) {
  const int sms = multiprocessors();
  unsigned *from, *to;
  check(cudaMalloc(&from, bytes), "memory");
  check(cudaMalloc(&to, bytes), "memory");
  const unsigned chunks = static_cast<unsigned>(bytes / 1024);  // a power of two
  const unsigned warps = 8, blocks = static_cast<unsigned>(sms) * 4, all = blocks * warps;
  const auto time_of = [&](int n) {
    return nanoseconds([&] {
      if (streams == 2) {
        stream_copy<<<blocks, warps * 32>>>(from, to, blocks, warps, 0, all, chunks - 1, n);
      } else {
        stream_read<<<blocks, warps * 32>>>(from, to, 0, blocks, warps, 0, all, chunks - 1, n);
      }
    });
  };
  const int few = rounds / 4;
  const double ns = time_of(rounds) - time_of(few);
  return done(name, 1024.0 * all * (rounds - few) * streams / ns, "GB/s", ns > 0);
}

}  // namespace

int main(int count, char** arguments) {
  const char* const which = count > 1 ? arguments[1] : "";
  const auto is = [&](const char* name) { return std::strcmp(which, name) == 0; };
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 2000;
  int* out;
  check(cudaMalloc(&out, 64), "memory");
  if (is("clock")) {
    const double mhz = sm_mhz(count > 2 ? rounds : 1000);
    return done(which, mhz, "MHz", mhz > 0);
  }
  if (is("empty")) return done(which, nanoseconds([] { empty<<<1, 32>>>(); }), "ns");
  if (is("shared"))
    return latency(which, rounds, [&](int each, int n) {
      if (each == 8) {
        chase_shared<<<1, 1>>>(n, out);
      } else {
        chase_shared_16<<<1, 1>>>(n, out);
      }
    });
  if (is("distributed"))
    return latency(which, rounds, [&](int each, int n) {
      if (each == 8) {
        of_clusters::chase_distributed<<<2, 1>>>(n, out);
      } else {
        of_clusters::chase_distributed_16<<<2, 1>>>(n, out);
      }
    });
  if (is("l1")) return chase(which, 8 << 10, rounds);
  if (is("l2")) return chase(which, 4 << 20, rounds);
  if (is("far-l2")) return chase(which, 40 << 20, rounds);
  if (is("memory")) return chase(which, size_t{256} << 20, rounds);
  if (is("read-l2")) return stream(which, 16 << 20, 1, rounds);
  if (is("read-memory")) return stream(which, size_t{1} << 30, 1, rounds);
  if (is("copy-memory")) return stream(which, size_t{1} << 30, 2, rounds);
  std::printf("no probe '%s' - clock, empty, shared, distributed, l1, l2, far-l2, memory, read-l2, "
              "read-memory or copy-memory\n", which);
  return 2;
}
