// The host sides of the probe programs (probes.cu, clusters.cu).
#include "bench/probes/programs.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "bench/probes/embedded.h"
#include "host/core/error.h"
#include "host/functional/device/virtual_device.h"
#include "host/functional/instructions/decoded.h"

namespace nearwarp::probe {
namespace {

using runtime::DevicePtr;
using runtime::Dim3;
using runtime::KernelArgs;

constexpr uint64_t kDataBase = exec::kDeviceBase + kDataOffset;

std::shared_ptr<const compiler::Program> kernels() {
  static const auto all = std::make_shared<const compiler::Program>(
      compiler::compile_ptx(embedded::probes_ptx, "probes.ptx"));
  return all;
}

std::shared_ptr<const compiler::Program> cluster_kernels() {
  static const auto all = std::make_shared<const compiler::Program>(
      compiler::compile_ptx(embedded::clusters_ptx, "clusters.ptx"));
  return all;
}

Dim3 line_of(uint32_t n) { return {n, 1, 1}; }
Dim3 threads_of(uint32_t warps) { return line_of(warps * 32); }

/// A device whose first allocation is the data, at the place that Program's lines assume.
class Device {
 public:
  Device(uint64_t data_bytes, const Program& program,
         std::shared_ptr<const compiler::Program> code = kernels())
      : line_bytes_(program.line_bytes), data_(device_.allocate(data_bytes, "data")) {
    if (data_ != kDataBase)
      throw Error("the data of a probe program is not where it was laid out - this is a defect");
    module_ = device_.load_module(std::move(code));
    out_ = device_.upload(std::vector<uint64_t>(1), "result");
    if (program.ballast_bytes != 0) device_.allocate(program.ballast_bytes, "ballast");
  }

  DevicePtr address(LineAddr line) const {
    return exec::kDeviceBase + uint64_t{line} * line_bytes_;
  }
  DevicePtr data() const { return data_; }
  DevicePtr out() const { return out_; }
  runtime::VirtualDevice& device() { return device_; }
  DevicePtr symbol(const char* name) const { return device_.symbol(module_, name); }

  template <class... T>
  void launch(const char* kernel, uint32_t blocks, Dim3 block, const T&... arguments) {
    device_.launch(module_, kernel, line_of(blocks), block, 0, KernelArgs(arguments...));
  }
  uint64_t result() const { return device_.download<uint64_t>(out_, 1)[0]; }
  runtime::Recording recording(const char* name) { return device_.take_recording(name); }

 private:
  runtime::VirtualDevice device_;
  uint32_t line_bytes_;
  DevicePtr data_ = 0, out_ = 0;
  uint32_t module_ = 0;
};

int rounds_of(uint32_t n) { return static_cast<int>(n); }

/// The address of each visit's pointer; a line that is visited again has several pointers.
std::vector<DevicePtr> pointers(const Device& device, const Chase& c, uint32_t line_bytes) {
  std::map<LineAddr, uint32_t> visits;
  std::vector<DevicePtr> at;
  for (const LineAddr line : c.visits) {
    const uint32_t before = visits[line]++;
    if (before * sizeof(DevicePtr) >= line_bytes)
      throw Error("a line of a chase has no room for a pointer more - this is a defect");
    at.push_back(device.address(line) + before * sizeof(DevicePtr));
  }
  return at;
}

runtime::Recording run_shared(const Chase& c, const Program& program) {
  Device device(sizeof(DevicePtr), program);
  device.launch(c.round == kRound ? "chase_shared" : "chase_shared_16", 1, line_of(1),
                rounds_of(c.steps / c.round), device.out());
  if (device.result() != c.steps % 32) throw Error("a chase in shared memory went wrong");
  return device.recording("chase");
}

/// A thread of the first block of a cluster of two follows pointers in the second block's shared
/// memory.
runtime::Recording run_distributed(const Chase& c, const Program& program) {
  Device device(sizeof(DevicePtr), program, cluster_kernels());
  device.launch(c.round == kRound ? "chase_distributed" : "chase_distributed_16", 2, line_of(1),
                rounds_of(c.steps / c.round), device.out());
  if (device.result() != c.steps % 32)
    throw Error("a chase in distributed shared memory went wrong");
  return device.recording("chase");
}

runtime::Recording run(const Chase& c, const Program& program) {
  if (c.kind == Chase::Kind::kDistributed) return run_distributed(c, program);
  if (c.kind == Chase::Kind::kShared) return run_shared(c, program);
  const LineAddr last = *std::max_element(c.visits.begin(), c.visits.end());
  Device device((uint64_t{last} + 1) * program.line_bytes - kDataOffset, program);
  const std::vector<DevicePtr> at = pointers(device, c, program.line_bytes);
  for (size_t i = 0; i < at.size(); ++i) {
    const DevicePtr next = at[(i + 1) % at.size()];
    device.device().copy_to_device(at[i], &next, sizeof(next));
  }
  const char* const loads = c.round == kRound ? "chase_loads" : "chase_loads_16";
  device.launch(c.kind == Chase::Kind::kLoads ? loads : "chase_atomics", 1, line_of(1), at[0],
                rounds_of(c.steps / c.round), device.out());
  if (device.result() != at[c.steps % at.size()]) throw Error("a chase went astray");
  return device.recording("chase");
}

runtime::Recording run(const Stream& s, const Program& program) {
  const uint64_t bytes = uint64_t{s.chunks} * kRound * kUnitBytes;
  const bool copy = s.kind == Stream::Kind::kCopy;
  Device device(copy ? 2 * bytes : bytes, program);
  const auto launch = [&](const char* kernel, const auto&... pointers) {
    device.launch(kernel, s.blocks, threads_of(s.block_warps), pointers..., s.sms, s.sm_offset,
                  s.block_offset, s.stride, s.chunks - 1, rounds_of(s.rounds));
  };
  if (copy) {
    launch("stream_copy", device.data(), device.data() + bytes);
  } else if (s.kind == Stream::Kind::kWrite) {
    launch("stream_write", device.data());
  } else {
    launch("stream_read", device.data(), device.out(), rounds_of(s.first_rounds));
  }
  return device.recording("stream");
}

runtime::Recording run(const Resident& r, const Program& program) {
  Device device(uint64_t{4} * kRound * kUnitBytes, program);
  device.launch("resident_read", r.blocks, threads_of(r.block_warps), device.data(), device.out(),
                rounds_of(r.rounds));
  return device.recording("resident");
}

runtime::Recording run(const RandomSectors& r, const Program& program) {
  Device device(uint64_t{r.sectors} * kSectorBytes, program);
  device.launch("random_sectors", r.blocks, threads_of(r.block_warps), device.data(), device.out(),
                r.sectors - 1, rounds_of(r.rounds));
  return device.recording("random sectors");
}

runtime::Recording run(const Listed& l, const Program& program) {
  const LineAddr last = *std::max_element(l.lines.begin(), l.lines.end());
  // Lines may be shorter than what a warp accesses.
  Device device((uint64_t{last} + 1) * program.line_bytes + kUnitBytes - kDataOffset, program);
  std::vector<uint32_t> words;
  for (const LineAddr line : l.lines)
    words.push_back(static_cast<uint32_t>((device.address(line) - device.data()) / 4));
  device.device().copy_to_device(device.symbol("lines"), words.data(), words.size() * 4);
  const auto launch = [&](const char* kernel, const auto&... pointers) {
    device.launch(kernel, l.blocks, threads_of(l.block_warps), pointers..., l.each,
                  rounds_of(l.rounds));
  };
  if (l.write) {
    launch("listed_write", device.data());
  } else {
    launch("listed_read", device.data(), device.out());
  }
  return device.recording("listed");
}

runtime::Recording run(const Near& n, const Program& program) {
  const uint64_t grid_bytes = uint64_t{n.blocks} * n.block_warps * kUnitBytes;
  Device device(n.again ? grid_bytes : work_of(program), program);
  const int rounds = rounds_of(n.rounds);
  const auto step = static_cast<uint32_t>(n.again ? 0 : grid_bytes / sizeof(uint32_t));
  const auto launch = [&](const char* kernel, const auto&... arguments) {
    device.launch(kernel, n.blocks, threads_of(n.block_warps), arguments..., rounds);
  };
  switch (n.kind) {
    case Near::Kind::kRead:
      launch("near_read", device.data(), step);
      break;
    case Near::Kind::kWrite:
      launch("near_write", device.data(), step);
      break;
    case Near::Kind::kDown:
      launch("near_down", device.data(), device.out(), step);
      break;
    case Near::Kind::kChain:
      launch("near_chain", device.data());
      if (device.device().download<uint32_t>(device.data(), 1)[0] != n.rounds * kRound)
        throw Error("a chain of additions went wrong");
      break;
  }
  return device.recording("near");
}

}  // namespace

runtime::Recording record(const Program& program) {
  return std::visit([&](const auto& what) { return run(what, program); }, program.what);
}

}  // namespace nearwarp::probe
