// Reads one kernel launch: thread blocks, warps, instructions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "host/recording/accel_sim/address_space.h"
#include "host/recording/accel_sim/line_reader.h"
#include "host/recording/accel_sim/machine_kernel.h"
#include "host/recording/accel_sim/trace_list.h"
#include "host/recording/recording.h"

namespace nearwarp::sass {

class LaunchReader {
 public:
  /// `lines` stand behind the header.
  LaunchReader(LineReader& lines, const KernelHeader& header, MachineKernel& kernel,
               AddressSpace& addresses);

  /// Read to the end of the file; traces go to `store` in the order of the file's thread blocks.
  /// `progress` is called now and then, and may throw. Throws nearwarp::Error, with file and line,
  /// for what is malformed, missing, or twice there.
  runtime::LaunchRecord read(runtime::TraceStore& store, const std::function<void()>& progress);
  /// Names of markers in the file, each once.
  const std::vector<std::string>& markers() const { return markers_; }

 private:
  /// A line that is neither empty nor a marker; false at the end of the file.
  bool next(std::string_view* line);
  /// From behind "#BEGIN_TB" to "#END_TB": fills words_of_.
  void thread_block();
  void check_thread_block(std::string_view line);
  void warp(uint32_t number);
  /// From the traced GPU's addresses to the simulator's.
  void move_addresses(const MachineInstruction& in, uint32_t mask, uint32_t warp_number);
  void flush(runtime::TraceStore& store);

  LineReader& lines_;
  const KernelHeader& header_;
  MachineKernel& kernel_;
  AddressSpace& addresses_;
  uint32_t warps_per_block_;
  std::vector<std::vector<uint64_t>> words_of_;  ///< by warp of the current thread block
  std::vector<bool> warp_seen_, block_seen_;
  runtime::TraceChunk chunk_;
  runtime::LaunchRecord record_;
  uint64_t address_[32] = {};
  std::vector<std::string> markers_;
  uint64_t announced_ = 0;  ///< instructions, by the warps' "insts = "
  uint64_t lines_until_progress_ = 0;
  const std::function<void()>* progress_ = nullptr;
};

}  // namespace nearwarp::sass
