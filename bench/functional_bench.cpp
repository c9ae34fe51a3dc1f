// Speed of functional execution: warp-instructions (items) and thread-instructions per second, with
// and without traces.
//
// Every measurement is of a kernel's second launch, on memory that the first has touched.
#include <benchmark/benchmark.h>

#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/functional/device/virtual_device.h"

namespace {

using nearwarp::runtime::DevicePtr;
using nearwarp::runtime::Dim3;
using nearwarp::runtime::KernelArgs;
using nearwarp::runtime::VirtualDevice;
using Program = nearwarp::compiler::Program;

std::shared_ptr<const Program> compiled(const char* path) {
  return std::make_shared<const Program>(nearwarp::compiler::compile_ptx_file(path));
}
std::shared_ptr<const Program> program() {
  static const auto p = compiled(NW_SOURCE_DIR "/bench/kernels/functional.ptx");
  return p;
}
std::shared_ptr<const Program> matrix_program() {
  static const auto p = compiled(NW_SOURCE_DIR "/bench/kernels/matrix.ptx");
  return p;
}

struct Run {
  VirtualDevice device;
  uint32_t module, matrix;
  explicit Run(bool traces)
      : device(options(traces)),
        module(device.load_module(program())),
        matrix(device.load_module(matrix_program())) {}
  static VirtualDevice::Options options(bool traces) {
    VirtualDevice::Options o;
    o.record_traces = traces;
    o.memory_bytes = uint64_t{1} << 30;
    o.traces.memory_budget_bytes = uint64_t{4} << 30;
    return o;
  }
};

/// Uploads inputs, and returns a function that launches the kernel.
using Prepare = std::function<std::function<void()>(Run&)>;

void measure(benchmark::State& state, const Prepare& prepare) {
  uint64_t instructions = 0, thread_instructions = 0;
  double bytes = 0;
  for (auto _ : state) {
    Run run(state.range(0) != 0);
    const std::function<void()> launch = prepare(run);
    launch();
    const uint64_t before = run.device.warp_instructions();
    const uint64_t threads_before = run.device.thread_instructions();
    const auto start = std::chrono::steady_clock::now();
    launch();
    state.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    instructions += run.device.warp_instructions() - before;
    thread_instructions += run.device.thread_instructions() - threads_before;
    const auto recording = run.device.take_recording("bench");
    bytes = 8.0 * static_cast<double>(recording.traces.total_words()) /
            static_cast<double>(recording.warp_instructions);
  }
  state.SetItemsProcessed(static_cast<int64_t>(instructions));
  state.counters["thread_instructions/s"] =
      benchmark::Counter(static_cast<double>(thread_instructions), benchmark::Counter::kIsRate);
  state.counters["trace_bytes_per_instruction"] = bytes;
}

std::vector<float> floats(size_t n) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = static_cast<float>(i % 1000) * 0.001f;
  return v;
}

constexpr int kElements = 1 << 20;

void vector_add(benchmark::State& state) {
  measure(state, [](Run& r) -> std::function<void()> {
    const DevicePtr a = r.device.upload(floats(kElements)), b = r.device.upload(floats(kElements)),
                    c = r.device.allocate(kElements * 4);
    return [=, &r] {
      r.device.launch(r.module, "vector_add", {160}, {256}, 0, KernelArgs(a, b, c, kElements));
    };
  });
}

void fma_chain(benchmark::State& state) {
  measure(state, [](Run& r) -> std::function<void()> {
    const DevicePtr out = r.device.allocate(160 * 256 * 4);
    return
        [=, &r] { r.device.launch(r.module, "fma_chain", {160}, {256}, 0, KernelArgs(out, 2000)); };
  });
}

void matmul(benchmark::State& state) {
  measure(state, [](Run& r) -> std::function<void()> {
    constexpr int n = 256;
    const DevicePtr a = r.device.upload(floats(n * n)), b = r.device.upload(floats(n * n)),
                    c = r.device.allocate(n * n * 4);
    return [=, &r] {
      r.device.launch(r.module, "matmul", {n / 16, n / 16}, {16, 16}, 0,
                      KernelArgs(a, b, c, int{n}));
    };
  });
}

void stencil(benchmark::State& state) {
  measure(state, [](Run& r) -> std::function<void()> {
    constexpr int width = 1024, height = 1024;
    const DevicePtr in = r.device.upload(floats(width * height)),
                    out = r.device.allocate(width * height * 4);
    return [=, &r] {
      r.device.launch(r.module, "stencil", {width / 32, height / 8}, {32, 8}, 0,
                      KernelArgs(in, out, int{width}, int{height}));
    };
  });
}

constexpr int kVertices = 1 << 17;

/// A graph with a skewed degree distribution: first edge of each vertex, edges.
const std::pair<std::vector<int>, std::vector<int>>& graph_data() {
  static const auto data = [] {
    std::mt19937 random(5);
    std::vector<int> first(kVertices + 1, 0), edges;
    for (int v = 0; v < kVertices; ++v) {
      const int degree = 1 + static_cast<int>(random() % 8) * (random() % 16 == 0 ? 12 : 1);
      for (int k = 0; k < degree; ++k) edges.push_back(static_cast<int>(random() % kVertices));
      first[static_cast<size_t>(v) + 1] = static_cast<int>(edges.size());
    }
    return std::pair(first, edges);
  }();
  return data;
}

/// Breadth-first search.
void graph(benchmark::State& state) {
  measure(state, [](Run& r) -> std::function<void()> {
    constexpr int n = kVertices;
    std::vector<int> level(n, -1);
    level[0] = 0;
    const DevicePtr first = r.device.upload(graph_data().first),
                    edges = r.device.upload(graph_data().second), levels = r.device.upload(level),
                    changed = r.device.allocate(4);
    return [=, &r] {
      r.device.copy_to_device(levels, level.data(), level.size() * 4);
      for (int step = 0;; ++step) {
        r.device.fill(changed, 0, 4);
        r.device.launch(r.module, "graph_step", {n / 256}, {256}, 0,
                        KernelArgs(first, edges, levels, step, int{n}, changed));
        int again = 0;
        r.device.copy_to_host(&again, changed, 4);
        if (again == 0) break;
      }
    };
  });
}

/// Shortest paths by atomic minima.
void atomics(benchmark::State& state) {
  measure(state, [](Run& r) -> std::function<void()> {
    constexpr int n = kVertices;
    std::vector<unsigned> start(n);
    for (size_t v = 0; v < n; ++v) start[v] = static_cast<unsigned>(v * 7919 % 1000);
    const DevicePtr first = r.device.upload(graph_data().first),
                    edges = r.device.upload(graph_data().second), distance = r.device.upload(start),
                    changes = r.device.allocate(32 * 4);
    return [=, &r] {
      r.device.copy_to_device(distance, start.data(), start.size() * 4);
      r.device.launch(r.module, "relax", {n / 256}, {256}, 0,
                      KernelArgs(first, edges, distance, int{n}, changes));
    };
  });
}

void stereo(benchmark::State& state) {
  measure(state, [](Run& r) -> std::function<void()> {
    constexpr int width = 256, height = 128;
    nearwarp::runtime::TextureDesc desc;
    desc.format = {{32, 0, 0, 0}, nearwarp::runtime::ChannelFormat::Kind::kUnsigned};
    uint64_t image[2];
    for (int i = 0; i < 2; ++i) {
      std::vector<unsigned> pixels(width * height);
      for (size_t p = 0; p < pixels.size(); ++p)
        pixels[p] = static_cast<unsigned>((p + 3 * static_cast<size_t>(i)) * 2654435761u);
      desc.levels[0] = {r.device.upload(pixels), width, height, 1, 0, 0};
      image[i] = r.device.create_texture(desc);
    }
    const DevicePtr out = r.device.allocate(width * height * 4);
    return [=, &r] {
      r.device.launch(r.module, "stereo", {width / 32, height / 8}, {32, 8}, 0,
                      KernelArgs(image[0], image[1], out, int{width}));
    };
  });
}

/// One thread that reads the clock again and again.
void spin(benchmark::State& state) {
  measure(state, [](Run& r) -> std::function<void()> {
    const DevicePtr out = r.device.allocate(32 * 8);
    return [=, &r] {
      r.device.launch(r.module, "spin", {1}, {1}, 0, KernelArgs(int64_t{1000000}, out));
    };
  });
}

void gather(benchmark::State& state) {
  measure(state, [](Run& r) -> std::function<void()> {
    std::mt19937 random(6);
    std::vector<int> index(kElements);
    for (int& i : index) i = static_cast<int>(random() % kElements);
    const DevicePtr table = r.device.upload(floats(kElements)), pi = r.device.upload(index),
                    out = r.device.allocate(kElements * 4);
    return [=, &r] {
      r.device.launch(r.module, "gather", {160}, {256}, 0, KernelArgs(table, pi, out, kElements));
    };
  });
}

/// A product of matrices of f16, by mma.
void gemm_f16(benchmark::State& state) {
  measure(state, [](Run& r) -> std::function<void()> {
    constexpr int n = 512;
    std::vector<uint16_t> values(n * n);
    for (size_t i = 0; i < values.size(); ++i)  // of both signs, below 1
      values[i] = static_cast<uint16_t>(i * 40503 % 0x3c00 | (i & 1) << 15);
    const DevicePtr a = r.device.upload(values), b = r.device.upload(values),
                    c = r.device.allocate(n * n * 4);
    return [=, &r] {
      r.device.launch(r.matrix, "gemm_f16", {n / 64, n / 64}, {128}, 0,
                      KernelArgs(a, b, c, int{n}));
    };
  });
}

/// A kernel that stores one result for each thread after a number of rounds.
void rounds(benchmark::State& state, const char* kernel) {
  measure(state, [kernel](Run& r) -> std::function<void()> {
    const DevicePtr out = r.device.allocate(16 * 256 * 8);
    return [=, &r] { r.device.launch(r.matrix, kernel, {16}, {256}, 0, KernelArgs(out, 400)); };
  });
}

/// Forces between points.
void bodies(benchmark::State& state) {
  measure(state, [](Run& r) -> std::function<void()> {
    constexpr int n = 1024;
    const DevicePtr at = r.device.upload(floats(n * 4)), force = r.device.allocate(n * 16);
    return [=, &r] {
      r.device.launch(r.matrix, "bodies", {n / 256}, {256}, 0, KernelArgs(at, force, int{n}));
    };
  });
}

#define NW_FUNCTIONAL(name) \
  BENCHMARK(name)->ArgName("traces")->Arg(0)->Arg(1)->UseManualTime()->Unit(benchmark::kMillisecond)
NW_FUNCTIONAL(vector_add);
NW_FUNCTIONAL(fma_chain);
NW_FUNCTIONAL(matmul);
NW_FUNCTIONAL(stencil);
NW_FUNCTIONAL(graph);
NW_FUNCTIONAL(gather);
NW_FUNCTIONAL(atomics);
NW_FUNCTIONAL(stereo);
NW_FUNCTIONAL(spin);
NW_FUNCTIONAL(gemm_f16);
NW_FUNCTIONAL(bodies);
#define NW_ROUNDS(name)                  \
  BENCHMARK_CAPTURE(rounds, name, #name) \
      ->ArgName("traces")                \
      ->Arg(0)                           \
      ->UseManualTime()                  \
      ->Unit(benchmark::kMillisecond)
NW_ROUNDS(cvt_f32_s32);
NW_ROUNDS(cvt_f32_u32);
NW_ROUNDS(cvt_floor);
NW_ROUNDS(cvt_s64_f32);
NW_ROUNDS(cvt_f16_f32);
NW_ROUNDS(cvt_f32_f16);
NW_ROUNDS(cvt_s64_s32);
NW_ROUNDS(cvt_f64_s32);
NW_ROUNDS(cvt_small);
NW_ROUNDS(half_chain);

}  // namespace

BENCHMARK_MAIN();
