// Messages of the executor on kernels that went wrong: faults and deadlocks, with place and thread.
#include <fmt/format.h>

#include "host/functional/exec/device_fault.h"
#include "host/functional/exec/executor.h"
#include "host/functional/exec/executor_slot.h"

namespace nearwarp::runtime {

using ptx::SpecialReg;

std::string Executor::thread_name(const Slot& slot, uint32_t warp, uint32_t lane) const {
  return fmt::format("({},{},{}) of block ({},{},{})",
                     special_value(slot, SpecialReg::kTidX, warp, lane),
                     special_value(slot, SpecialReg::kTidY, warp, lane),
                     special_value(slot, SpecialReg::kTidZ, warp, lane), slot.ctaid[0],
                     slot.ctaid[1], slot.ctaid[2]);
}

std::string Executor::where(uint32_t instruction) const {
  const compiler::Instruction& in = kernel_.kernel->instructions[instruction];
  std::string s = fmt::format("{}:{}", path_, in.ptx_line);
  const auto& files = kernel_.kernel->source_files;
  if (in.source_file < files.size() && !files[in.source_file].empty() && in.source_line != 0)
    s += fmt::format(", {}:{}", files[in.source_file], in.source_line);
  return s;
}

const compiler::Symbol* Executor::stack() const {
  for (const compiler::Symbol& s : kernel_.kernel->symbols)
    if (s.space == ptx::Space::kLocal && s.name == compiler::kStackSymbol) return &s;
  return nullptr;
}

// Frames follow one another, so the first one that does not fit begins near the end.
bool Executor::overflows_stack(const exec::Fault& f) const {
  constexpr uint64_t kNear = 1 << 20;
  const uint64_t end = context_.local_bytes;
  return f.kind == exec::FaultKind::kInvalid && f.space == exec::MemSpace::kLocal &&
         stack() != nullptr && f.address + f.bytes > end && f.address < end + kNear;
}

void Executor::report_fault(const Slot& slot, uint32_t warp) const {
  print_pending(slot);
  using Kind = DeviceFault::Kind;
  const exec::Fault& f = context_.fault;
  const std::string thread = thread_name(slot, warp, f.lane);
  const std::string& kernel = kernel_.kernel->name;
  if (f.kind == exec::FaultKind::kTrap)
    throw DeviceFault(Kind::kTrap, fmt::format("trap in kernel {} ({}) by thread {}", kernel,
                                               where(f.instruction), thread));
  if (f.kind == exec::FaultKind::kBadTexture && f.is_tensor_map)
    throw DeviceFault(
        Kind::kIllegalAddress,
        fmt::format("there is no tensor map of this copy's form at {:#x}, in kernel {} ({}) by "
                    "thread {} - cuTensorMapEncodeTiled() makes maps of so many dimensions, and "
                    "kernels have them as __grid_constant__ parameters",
                    f.address, kernel, where(f.instruction), thread));
  if (f.kind == exec::FaultKind::kBadTexture)
    throw DeviceFault(
        Kind::kIllegalAddress,
        fmt::format("{:#x} is no texture or surface object, in kernel {} ({}) by thread {}",
                    f.address, kernel, where(f.instruction), thread));
  if (f.kind == exec::FaultKind::kOutsideSurface)
    throw DeviceFault(Kind::kTrap,
                      fmt::format("{} outside of the surface {:#x} in kernel {} ({}) by thread {}",
                                  f.is_write ? "write" : "read", f.address, kernel,
                                  where(f.instruction), thread));
  if (f.kind == exec::FaultKind::kBadBranch)
    throw DeviceFault(
        Kind::kTrap,
        fmt::format("brx.idx with index {} beyond its table in kernel {} ({}) by thread {}",
                    f.address, kernel, where(f.instruction), thread));
  if (overflows_stack(f))
    throw DeviceFault(
        Kind::kStackOverflow,
        fmt::format("stack overflow in kernel {} ({}) by thread {}: its recursion needs more than "
                    "the {} bytes that a thread has - end it, or raise the limit with "
                    "cudaDeviceSetLimit(cudaLimitStackSize, BYTES)",
                    kernel, where(f.instruction), thread, context_.local_bytes - stack()->offset));
  throw DeviceFault(
      f.kind == exec::FaultKind::kMisaligned ? Kind::kMisalignedAddress : Kind::kIllegalAddress,
      access_message(slot, warp, f));
}

std::string Executor::access_message(const Slot& slot, uint32_t warp, const exec::Fault& f) const {
  const char* space = f.space == exec::MemSpace::kShared  ? "__shared__"
                      : f.space == exec::MemSpace::kLocal ? "__local__"
                                                          : "__global__";
  const char* access = f.is_atomic ? "atomic" : (f.is_write ? "write" : "read");
  std::string detail;
  if (f.kind == exec::FaultKind::kMisaligned)
    detail = fmt::format("the address is not a multiple of {}", f.bytes);
  else if (f.space == exec::MemSpace::kGlobal)
    detail = memory_.describe_nearest(f.address, f.bytes);
  else if (f.space == exec::MemSpace::kShared && f.address >= exec::kWindowBytes)
    detail = shared_detail(slot, f.address);
  else
    detail = fmt::format("the window has {} bytes", f.space == exec::MemSpace::kShared
                                                        ? context_.shared_bytes
                                                        : context_.local_bytes);
  return fmt::format("{} {} {} of size {} bytes in kernel {} ({}) by thread {}: address {:#x}, {}",
                     f.kind == exec::FaultKind::kMisaligned ? "misaligned" : "invalid", space,
                     access, f.bytes, kernel_.kernel->name, where(f.instruction),
                     thread_name(slot, warp, f.lane), f.address, detail);
}

void Executor::report_deadlock(const Slot& slot, const std::string& why) const {
  std::string waits;
  for (uint32_t w = 0; w < warps_per_block_ && waits.size() < 400; ++w) {
    const char* separator = waits.empty() ? "" : "; ";
    if (slot.states[w] == Slot::State::kWaiting) {
      const BarrierDesc& desc = kernel_.barriers[slot.warps[w].barrier];
      waits += fmt::format("{}warp {} at the barrier in {}", separator, w, where(desc.instruction));
    } else if (slot.states[w] == Slot::State::kRunnable) {
      const uint32_t block = slot.warps[w].block;
      const uint32_t first = kernel_.kernel->blocks[block].first;
      waits += fmt::format("{}warp {} polls near {}", separator, w, where(first));
    }
  }
  throw DeviceFault(
      DeviceFault::Kind::kDeadlock,
      fmt::format("deadlock in kernel {}: block ({},{},{}): {} ({})", kernel_.kernel->name,
                  slot.ctaid[0], slot.ctaid[1], slot.ctaid[2], why, waits));
}

}  // namespace nearwarp::runtime
