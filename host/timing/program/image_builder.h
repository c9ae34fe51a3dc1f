// Builds the timing model's read-only tables of a recorded program on a machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/sm/kernel_image.h"
#include "host/config/machine.h"
#include "host/recording/recording.h"

namespace nearwarp::sim {

/// Owns the tables that a ProgramImage points to.
struct ImageTables {
  std::vector<sm::ImageInstr> instrs;
  std::vector<sm::ImageBlock> blocks;
  std::vector<sm::KernelInfo> kernels;
  std::vector<sm::LaunchInfo> launches;
  std::vector<uint32_t> waiting;  ///< ProgramImage::waiting
  /// By kernel and instruction of it: index into `instrs`; kNotIssued if the machine drops it.
  std::vector<std::vector<uint32_t>> index_of;
  /// Recording::launches index of each entry of `launches` (launches without blocks are left out).
  std::vector<uint32_t> recorded_launch;
  /// Registers per thread that occupancy counts, of each entry of `launches`.
  std::vector<uint32_t> registers;
  /// Who counted them, where it was a mechanism; empty: each kernel's RegisterCount says it.
  std::string registers_source;
  uint32_t programs = 1;      ///< that run at the same time, in address spaces 0, 1, ...
  uint64_t memory_bytes = 0;  ///< up to the end of the last allocation of any of them
  uint32_t max_slots = 1;     ///< scoreboard entries that a warp needs at most
  bool has_copies = false;    ///< bulk copies or mbarriers
  bool has_clusters = false;  ///< that the machine places together

  static constexpr uint32_t kNotIssued = 0xffffffffu;

  sm::ProgramImage view() const;
};

/// Resources that an SM of the machine has for thread blocks.
sm::SmResources sm_capacity(const config::MachineConfig& machine);

/// Resources that a thread block of a launch takes of an SM. Throws nearwarp::Error if not even one
/// fits, saying which resource is short.
sm::SmResources block_needs(const config::MachineConfig& machine, const compiler::Kernel& kernel,
                            const runtime::LaunchRecord& launch);

/// Thread blocks that fit on an SM at a time.
uint32_t blocks_per_sm(const sm::SmResources& capacity, const sm::SmResources& needs);

/// Throws nearwarp::Error if a program cannot be bound to these stacks (as bits; 0: to none) of the
/// machine: it must have SMs in them, and no others.
void check_binding(const std::string& program, uint32_t stacks,
                   const config::MachineConfig& machine);

/// The launches of a recording without blocks are left out; those that wait for them wait for what
/// they waited for.
ImageTables build_image(const runtime::Recording& recording, const config::MachineConfig& machine);

}  // namespace nearwarp::sim
