// A CUDA device: memory, launches of the stepping kernel.
#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "kernels/cuda_check.h"
#include "kernels/run_batch.cuh"
#include "kernels/run_teams.cuh"

namespace nearwarp::kernels {

namespace {

using gpu::kMaxTeamBlocks;

/// Makes a device the current one for as long as it lives.
class Current {
 public:
  explicit Current(int device) {
    NW_CUDA_CHECK(cudaGetDevice(&before_));
    NW_CUDA_CHECK(cudaSetDevice(device));
  }
  ~Current() { static_cast<void>(cudaSetDevice(before_)); }

 private:
  int before_ = 0;
};

constexpr uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  NW_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

/// A launch of teams of so many blocks, whose meeting is a cluster's.
struct ClusterConfig {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  ClusterConfig(uint32_t teams, uint32_t blocks, uint32_t warps_per_block) {
    config.gridDim = dim3(teams * blocks);
    config.blockDim = dim3(warps_per_block * 32);
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = blocks;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  ClusterConfig(const ClusterConfig&) = delete;
};

/// The largest power of two of blocks that make a cluster here; 1 without clusters.
uint32_t largest_cluster(int device, uint32_t warps_per_block, uint32_t shared_bytes) {
  if (attribute(cudaDevAttrClusterLaunch, device) == 0) return 1;
  // More than 8 blocks is more than every device with clusters promises.
  for (const auto kernel : {gpu::run_teams, gpu::meet_only}) {
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) !=
        cudaSuccess)
      static_cast<void>(cudaGetLastError());
  }
  for (uint32_t blocks = kMaxTeamBlocks; blocks > 1; blocks /= 2) {
    ClusterConfig launch(1, blocks, warps_per_block);
    launch.config.dynamicSmemBytes = shared_bytes;
    int clusters = 0;
    if (cudaOccupancyMaxActiveClusters(&clusters, gpu::run_teams, &launch.config) == cudaSuccess &&
        clusters > 0)
      return blocks;
    static_cast<void>(cudaGetLastError());
  }
  return 1;
}

DeviceInfo describe(int index, const CudaOptions& options) {
  const Current current(index);
  cudaDeviceProp properties = {};
  NW_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
  DeviceInfo info;
  info.index = index;
  info.name = properties.name;
  info.architecture = "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
  info.memory_bytes = properties.totalGlobalMem;
  info.multiprocessors = static_cast<uint32_t>(properties.multiProcessorCount);
  info.clock_mhz = static_cast<uint32_t>(attribute(cudaDevAttrClockRate, index) / 1000);
  cudaFuncAttributes kernel = {};
  NW_CUDA_CHECK(cudaFuncGetAttributes(&kernel, gpu::run_teams));
  info.registers = static_cast<uint32_t>(kernel.numRegs);
  info.local_bytes = static_cast<uint32_t>(kernel.localSizeBytes);
  info.warps_per_block = gpu::kMostWarps;
  const int most = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, index) -
                   static_cast<int>(kernel.sharedSizeBytes);
  info.shared_bytes =
      std::min(options.shared_bytes, static_cast<uint32_t>(std::max(0, most))) / 16 * 16;
  NW_CUDA_CHECK(cudaFuncSetAttribute(gpu::run_teams, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(info.shared_bytes)));
  int blocks = 0;
  NW_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, gpu::run_teams, info.warps_per_block * 32, info.shared_bytes));
  info.blocks_at_once = static_cast<uint32_t>(blocks) * info.multiprocessors;
  // Code for older devices, translated for this one, has no barrier of clusters.
  const bool clusters = options.clusters && kernel.ptxVersion >= 90;
  const uint32_t cluster =
      clusters ? largest_cluster(index, info.warps_per_block, info.shared_bytes) : 1;
  info.clusters = cluster > 1;
  info.largest_team = info.clusters ? cluster
                      : attribute(cudaDevAttrCooperativeLaunch, index) != 0
                          ? std::min(kMaxTeamBlocks, info.blocks_at_once)
                          : 1;
  return info;
}

class CudaDevice final : public Device {
 public:
  CudaDevice(int index, const CudaOptions& options)
      : info_(describe(index, options)), options_(options) {
    NW_CUDA_CHECK(cudaSetDevice(index));
    NW_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    NW_CUDA_CHECK(cudaEventCreate(&begun_));
    NW_CUDA_CHECK(cudaEventCreate(&ended_));
    next_ = DeviceBuffer(*this, sizeof(uint32_t));
    places_ = DeviceBuffer(*this, info_.blocks_at_once * sizeof(gpu::MeetingPlace));
  }
  ~CudaDevice() override {
    if (footprint_ != nullptr) static_cast<void>(cudaFreeHost(footprint_));
    static_cast<void>(cudaEventDestroy(begun_));
    static_cast<void>(cudaEventDestroy(ended_));
    static_cast<void>(cudaStreamDestroy(stream_));
  }

  const DeviceInfo& info() const override { return info_; }

  uint64_t free_bytes() override {
    size_t free = 0, total = 0;
    NW_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return free;
  }

  std::byte* allocate(uint64_t bytes) override {
    void* memory = nullptr;
    NW_CUDA_CHECK(cudaMalloc(&memory, bytes));
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory) noexcept override { static_cast<void>(cudaFree(memory)); }
  void upload(std::byte* to, const void* from, uint64_t bytes) override {
    NW_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_));
    NW_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }
  void download(void* to, const std::byte* from, uint64_t bytes) override {
    NW_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_));
    NW_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }

  LaunchReport run(TeamSystem* systems, uint32_t count, const TeamShape& shape,
                   const Slice& slice) override {
    check_shape(info_, shape);
    gpu::Launch launch = launch_of(shape);
    launch.systems = systems;
    launch.count = count;
    launch.slice = slice;
    return timed_teams(gpu::run_teams, launch, shape, launch.state_bytes);
  }

  LaunchReport run_batch(const Batch& batch) override {
    int blocks = 0;
    NW_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, gpu::run_batch,
                                                                info_.warps_per_block * 32, 0));
    if (blocks == 0) throw DeviceError("the kernel that steps batches does not fit the device");
    const uint32_t warps = options_.batch_warps;
    const dim3 grid(warps != 0 ? 1 : static_cast<uint32_t>(blocks) * info_.multiprocessors);
    const dim3 block((warps != 0 ? warps : info_.warps_per_block) * 32);
    Batch argument = batch;
    void* arguments[] = {&argument};
    return timed([&] {
      NW_CUDA_CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(gpu::run_batch), grid, block,
                                     arguments, 0, stream_));
    });
  }

  void leave_footprints() override {
    if (footprint_ != nullptr) return;
    // The host's memory: that of a device is lost with a fault.
    void* memory = nullptr;
    NW_CUDA_CHECK(cudaHostAlloc(&memory, sizeof(Footprint), cudaHostAllocMapped));
    footprint_ = new (memory) Footprint;
  }
  Footprint* footprint_place() override { return footprint_; }
  Footprint footprint() const override { return footprint_ == nullptr ? Footprint{} : *footprint_; }

  LaunchReport meet(const TeamShape& shape, uint32_t times) override {
    gpu::Launch launch = launch_of(shape);
    launch.count = times;
    return timed_teams(gpu::meet_only, launch, shape, 0);
  }

 private:
  using Kernel = void (*)(gpu::Launch);

  gpu::Launch launch_of(const TeamShape& shape) const {
    gpu::Launch launch;
    launch.blocks_per_team = shape.blocks;
    launch.team_warps = shape.warps;
    launch.state_bytes = shared_bytes_of(info_, shape.warps);
    launch.meeting = shape.blocks == 1 ? gpu::Meeting::kBlock
                     : info_.clusters  ? gpu::Meeting::kCluster
                                       : gpu::Meeting::kGrid;
    launch.next = next_.as<uint32_t>();
    launch.places = places_.as<gpu::MeetingPlace>();
    return launch;
  }

  LaunchReport timed_teams(Kernel kernel, gpu::Launch& launch, const TeamShape& shape,
                           uint32_t shared_bytes) {
    NW_CUDA_CHECK(cudaMemsetAsync(next_.as<void>(), 0, next_.bytes(), stream_));
    NW_CUDA_CHECK(cudaMemsetAsync(places_.as<void>(), 0, places_.bytes(), stream_));
    return timed([&] { start_teams(kernel, launch, shape, shared_bytes); });
  }

  /// Waits for the end of what `start`() starts, and times it.
  template <class F>
  LaunchReport timed(F&& start) {
    NW_CUDA_CHECK(cudaEventRecord(begun_, stream_));
    start();
    NW_CUDA_CHECK(cudaEventRecord(ended_, stream_));
    NW_CUDA_CHECK(cudaEventSynchronize(ended_));
    float milliseconds = 0;
    NW_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begun_, ended_));
    return {static_cast<double>(milliseconds) / 1000};
  }

  void start_teams(Kernel kernel, gpu::Launch& launch, const TeamShape& shape,
                   uint32_t shared_bytes) {
    // Small teams go to multiprocessors of their own first, then into common blocks: of a power of
    // two, so that blocks fill a multiprocessor.
    const uint32_t most =
        shape.blocks > 1 ? 1 : std::bit_floor(info_.warps_per_block / shape.warps);
    const uint32_t in_block =
        std::clamp(std::bit_floor(shape.teams / std::max(1u, info_.multiprocessors)), 1u, most);
    const dim3 grid(ceil_div(shape.teams, in_block) * shape.blocks);
    const dim3 block(in_block * shape.warps * 32);
    shared_bytes *= in_block;
    void* arguments[] = {&launch};
    const auto* function = reinterpret_cast<const void*>(kernel);
    if (launch.meeting == gpu::Meeting::kCluster) {
      ClusterConfig cluster(shape.teams, shape.blocks, shape.warps);
      cluster.config.stream = stream_;
      cluster.config.dynamicSmemBytes = shared_bytes;
      NW_CUDA_CHECK(cudaLaunchKernelExC(&cluster.config, function, arguments));
    } else if (launch.meeting == gpu::Meeting::kGrid) {
      NW_CUDA_CHECK(
          cudaLaunchCooperativeKernel(function, grid, block, arguments, shared_bytes, stream_));
    } else {
      NW_CUDA_CHECK(cudaLaunchKernel(function, grid, block, arguments, shared_bytes, stream_));
    }
  }

  DeviceInfo info_;
  CudaOptions options_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begun_ = nullptr, ended_ = nullptr;
  DeviceBuffer next_, places_;
  Footprint* footprint_ = nullptr;  ///< unified addressing: the device's pointer is the host's
};

}  // namespace

std::vector<DeviceInfo> cuda_devices(std::string& why) {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    why = cudaGetErrorString(code);
    return {};
  }
  if (count == 0) why = "no CUDA-capable device is detected";
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < count; ++i) devices.push_back(describe(i, {}));
  return devices;
}

std::unique_ptr<Device> open_cuda_device(int index, const CudaOptions& options) {
  return std::make_unique<CudaDevice>(index, options);
}

}  // namespace nearwarp::kernels
