// Executes calls of system functions by kernels: printf, assert, malloc, free, the CUDA runtime.
#include <fmt/format.h>

#include <cstring>

#include "host/functional/exec/device_fault.h"
#include "host/functional/exec/device_printf.h"
#include "host/functional/exec/executor.h"
#include "host/functional/exec/executor_slot.h"
#include "host/functional/instructions/memory.h"
#include "host/functional/racecheck/checker.h"

namespace nearwarp::runtime {

namespace {

constexpr uint64_t kMostString = 1 << 16;  // most bytes of a string; CUDA's buffer has a limit, too

}  // namespace

/// Host address of [address, address + bytes) in a thread's generic address space; nullptr if there
/// is no memory.
const uint8_t* Executor::lane_memory(const Slot& slot, uint32_t w, uint32_t lane, uint64_t address,
                                     uint64_t bytes) const {
  const auto inside = [bytes](uint64_t offset, uint64_t limit) {
    return offset <= limit && bytes <= limit - offset;
  };
  if (const uint64_t o = address - exec::kSharedGenericBase; o < exec::kWindowBytes)
    return inside(o, context_.shared_bytes) ? slot.shared.get() + o : nullptr;
  if (const uint64_t o = address - exec::kLocalGenericBase; o < exec::kWindowBytes)
    return inside(o, context_.local_bytes)
               ? slot.warps[w].local + uint64_t{lane} * context_.local_bytes + o
               : nullptr;
  if (exec::find_range(context_, address, bytes) == nullptr) return nullptr;
  return context_.arena + (address - exec::kDeviceBase);
}

std::string Executor::lane_string(const Slot& slot, uint32_t w, uint32_t lane,
                                  uint64_t address) const {
  std::string text;
  for (; text.size() < kMostString; ++address) {
    const uint8_t* p = lane_memory(slot, w, lane, address, 1);
    if (p == nullptr || *p == 0) break;
    text += static_cast<char>(*p);
  }
  return text;
}

/// Passes on the text that blocks have printed before a fault.
void Executor::print_pending(const Slot& running) const {
  if (!options_.print) return;
  for (const auto& [index, slot] : finished_)
    if (!slot->printed.empty()) options_.print(slot->printed);
  if (!running.printed.empty()) options_.print(running.printed);
}

/// Tells the race checker that memory was allocated: earlier contents and accesses do not count.
void Executor::made_fresh(uint64_t address, uint64_t bytes) {
  options_.checker->fresh(address, bytes);
  memory_.note_unwritten(address, bytes);
}

uint64_t Executor::runtime_call(const Slot& slot, uint32_t w, uint32_t lane, const SystemDesc& desc,
                                const uint64_t* arguments) {
  DeviceRuntime::Thread thread;
  thread.id = (slot.index << 10) + w * 32 + lane;
  thread.memory = [&](uint64_t address, uint64_t bytes) {
    auto* const at = const_cast<uint8_t*>(lane_memory(slot, w, lane, address, bytes));
    if (options_.checker != nullptr && at != nullptr)
      options_.checker->written_by_system(context_, at, bytes);
    return at;
  };
  const uint64_t result =
      options_.runtime->call(desc.call, {arguments, desc.num_arguments}, thread, options_.heap);
  const bool buffer = desc.call == ptx::DeviceCall::kGetParameterBuffer ||
                      desc.call == ptx::DeviceCall::kGetParameterBufferV2;
  if (buffer && result != 0 && options_.checker != nullptr)
    made_fresh(result, options_.runtime->buffer_bytes(result));
  return result;
}

void Executor::system_call(Slot& slot, uint32_t w) {
  exec::Warp& warp = slot.warps[w];
  const SystemDesc& desc = kernel_.system_calls[warp.barrier];
  for (uint32_t m = warp.barrier_mask; m != 0; m &= m - 1) {
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(m));
    uint64_t a[SystemDesc::kMaxArguments] = {};
    for (uint32_t i = 0; i < desc.num_arguments; ++i) {
      const uint8_t* row = warp.rows + size_t{desc.rows[i]} * exec::kRowBytes;
      const uint32_t bytes = desc.wide[i] ? 8 : 4;
      std::memcpy(&a[i], row + lane * bytes, bytes);
    }
    uint64_t result = 0;
    switch (desc.kind) {
      case exec::SystemKind::kPrintf: {
        PrintfSource source;
        source.argument = [&](uint64_t offset, void* to, uint32_t bytes) {
          const uint8_t* p = lane_memory(slot, w, lane, a[1] + offset, bytes);
          if (p != nullptr) std::memcpy(to, p, bytes);
          return p != nullptr;
        };
        source.string = [&](uint64_t address) { return lane_string(slot, w, lane, address); };
        const std::string text = format_printf(lane_string(slot, w, lane, a[0]), source);
        slot.printed += text;
        result = text.size();
        break;
      }
      case exec::SystemKind::kAssert: {
        // message, file, line, function, size of a character
        const std::string text = fmt::format(
            "{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.",
            lane_string(slot, w, lane, a[1]), static_cast<uint32_t>(a[2]),
            lane_string(slot, w, lane, a[3]), slot.ctaid[0], slot.ctaid[1], slot.ctaid[2],
            special_value(slot, ptx::SpecialReg::kTidX, w, lane),
            special_value(slot, ptx::SpecialReg::kTidY, w, lane),
            special_value(slot, ptx::SpecialReg::kTidZ, w, lane), lane_string(slot, w, lane, a[0]));
        print_pending(slot);
        throw DeviceFault(DeviceFault::Kind::kAssert, text);
      }
      case exec::SystemKind::kMalloc:
        result = options_.heap != nullptr ? options_.heap->allocate(a[0]) : 0;
        if (options_.checker != nullptr && result != 0) made_fresh(result, a[0]);
        break;
      case exec::SystemKind::kFree:
        if (a[0] != 0 && (options_.heap == nullptr || !options_.heap->free(a[0]))) {
          print_pending(slot);
          throw DeviceFault(
              DeviceFault::Kind::kTrap,
              fmt::format("free of {:#x}, which malloc in device code did not return or which was "
                          "freed before, in kernel {} ({}) by thread {}",
                          a[0], kernel_.kernel->name, where(desc.instruction),
                          thread_name(slot, w, lane)));
        }
        break;
      case exec::SystemKind::kDevice:
        result = runtime_call(slot, w, lane, desc, a);
        break;
    }
    if (desc.result != exec::kNoRow) {
      const uint32_t bytes = desc.result_wide ? 8 : 4;
      std::memcpy(warp.rows + size_t{desc.result} * exec::kRowBytes + lane * bytes, &result, bytes);
    }
  }
}

}  // namespace nearwarp::runtime
