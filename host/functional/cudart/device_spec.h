// Properties of the simulated GPU, and settings of the library that the environment passes to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/functional/cudart/code/register_choice.h"
#include "host/functional/exec/execution_rules.h"

namespace nearwarp::cudart {

/// Properties of the device. The defaults are those of machine `tom`; `nearwarp run` passes those
/// of its machine.
struct DeviceSpec {
  std::string name = "tom";
  uint32_t sms = 68;
  uint32_t clock_mhz = 1400;
  uint32_t memory_clock_mhz = 800;
  uint32_t memory_mbps = 320000;  ///< sum over all stacks, in one direction
  uint32_t sm_warps = 48, sm_threads = 1536, sm_blocks = 8;
  uint32_t sm_registers = 32768, register_unit = 1;
  uint32_t sm_shared_bytes = 49152;
  uint32_t l2_bytes = 1048576;
  uint32_t capability = 90;  ///< compute capability times ten
  uint64_t memory_bytes = uint64_t{16} << 30;
};

/// Bytes of addresses behind the device's memory for files and memory that programs map themselves.
/// They are several times the memory, since allocators reserve more than they map.
inline constexpr uint64_t kMappedBytes = uint64_t{48} << 30;

/// Settings that nearwarp passes to applications by the NEARWARP_CUDART_* variables.
struct Settings {
  DeviceSpec device;
  std::string spool;   ///< folder for journals, one per process; empty: do not record
  std::string record;  ///< file for this process's journal
  std::string check;   ///< folder for the race detector's findings, or "-" to print them
  /// Does the race detector also find misuse of barriers, and reads of unwritten memory?
  bool check_misuse = true, check_unwritten = true;
  /// Only kernels whose names contain a match of this regular expression are recorded or checked;
  /// empty: all kernels.
  std::string kernels;
  uint64_t max_thread_instructions = 0;  ///< recording ends after so many; 0: no limit
  /// The most bytes of traces of thread blocks that run together.
  uint64_t max_trace_bytes = uint64_t{2} << 30;
  RegisterChoice registers;  ///< source of kernels' numbers of registers, which limit occupancy
  std::string ptxas_cache;   ///< folder for results of ptxas; empty: they are not kept
  std::string event_times;   ///< see EventTimes::begin(); empty: times of events are estimated
  runtime::ExecutionRules execution;
  uint64_t time_limit_seconds = 0;  ///< most seconds in kernels; 0: no limit
  /// Numbers of the simulated GPUs that CUDA_VISIBLE_DEVICES shows. All stand for the same GPU.
  std::vector<uint32_t> visible_devices = {0};
  bool strict_bounds = false;  ///< accesses beside allocations are faults even in their pages
};

inline constexpr const char* kSpoolVariable = "NEARWARP_CUDART_SPOOL";
inline constexpr const char* kRecordVariable = "NEARWARP_CUDART_RECORD";
inline constexpr const char* kCheckVariable = "NEARWARP_CUDART_CHECK";
/// Checks to leave out: "misuse", "unwritten" or both, with a comma.
inline constexpr const char* kCheckWithoutVariable = "NEARWARP_CUDART_CHECK_WITHOUT";
inline constexpr const char* kKernelsVariable = "NEARWARP_CUDART_KERNELS";
inline constexpr const char* kMaxInstructionsVariable = "NEARWARP_CUDART_MAX_INSTRUCTIONS";
inline constexpr const char* kTraceBytesVariable = "NEARWARP_CUDART_TRACE_BYTES";
inline constexpr const char* kEventTimesVariable = "NEARWARP_CUDART_EVENT_TIMES";
inline constexpr const char* kRegistersVariable = "NEARWARP_CUDART_REGISTERS";
inline constexpr const char* kPtxasCacheVariable = "NEARWARP_CUDART_PTXAS_CACHE";
inline constexpr const char* kInterleaveVariable = "NEARWARP_CUDART_INTERLEAVE";
inline constexpr const char* kExecuteMostVariable = "NEARWARP_CUDART_EXECUTE_MOST";
inline constexpr const char* kTimeLimitVariable = "NEARWARP_CUDART_TIME_LIMIT";
inline constexpr const char* kStrictBoundsVariable = "NEARWARP_CUDART_STRICT_BOUNDS";
inline constexpr const char* kDevicesVariable = "NEARWARP_CUDART_DEVICES";
inline constexpr uint32_t kMostDevices = 16;
inline constexpr const char* kDeviceVariable = "NEARWARP_CUDART_DEVICE";
/// Path of the driver's API, where the application may have it.
inline constexpr const char* kDriverVariable = "NEARWARP_CUDART_DRIVER";

/// "key=value,..." of all members, as kDeviceVariable has it.
std::string format_device(const DeviceSpec& spec);
/// The device of format_device()'s text; keys left out keep their defaults. Throws nearwarp::Error.
DeviceSpec parse_device(const std::string& text);
/// Which of so many devices CUDA_VISIBLE_DEVICES, where it is set, shows, in its order. Names are
/// read up to the first that is of none, or of one before, as CUDA does.
std::vector<uint32_t> visible_devices(const char* names, uint32_t devices);
/// The 16 bytes of a device's UUID.
std::string uuid_of(uint32_t device);
/// Reads the settings from the environment. Throws nearwarp::Error for values that are wrong.
Settings settings_from_environment();

}  // namespace nearwarp::cudart
