// Services of the CUDA runtime's host side that calls by device code need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "host/functional/compiler/kernel.h"
#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// The parameters of a launch by device code.
struct GridConfig {
  uint32_t module = 0;
  const compiler::Kernel* kernel = nullptr;
  Dim3 grid, block;
  uint32_t dynamic_shared_bytes = 0;
};

/// Does compute capability 9.0 allow grids and blocks of these dimensions?
bool possible_grid(Dim3 grid);
bool possible_block(Dim3 block);

/// Statuses are cudaError_t. The base class stands for a device without a machine configuration.
class DeviceServices {
 public:
  virtual ~DeviceServices() = default;
  /// Are this kernel's launches recorded?
  virtual bool records(const std::string& kernel) const;
  /// The status of a launch on this machine; its dimensions have passed possible_grid() and
  /// possible_block().
  virtual int launch_status(const GridConfig& config);
  virtual int attribute(int number, int* value);     ///< cudaDeviceGetAttribute
  virtual int limit(int number, uint64_t* value);    ///< cudaDeviceGetLimit
  virtual uint64_t pending_launches() const;         ///< cudaLimitDevRuntimePendingLaunchCount
  virtual std::string error_name(int status) const;  ///< cudaGetErrorName
  virtual std::string error_text(int status) const;  ///< cudaGetErrorString
  /// cudaFuncGetAttributes: fills `bytes` bytes.
  virtual int function_attributes(const GridConfig& kernel, void* to, size_t bytes);
  /// cudaOccupancyMaxActiveBlocksPerMultiprocessor
  virtual int blocks_per_sm(const GridConfig& config, int* blocks);
  /// cudaGraphSetConditional; false: there is no such handle
  virtual bool set_condition(uint64_t handle, uint32_t value);
  /// Tell the user a text, once.
  virtual void note(const std::string& text);

  static constexpr size_t kFunctionAttributesBytes = 144;  ///< cudaFuncAttributes
};

}  // namespace nearwarp::runtime
