// Formats the text of a printf() by device code.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace nearwarp::runtime {

/// Access to the memory of the calling thread that format_printf() reads.
struct PrintfSource {
  /// Copies `bytes` of the argument buffer at `offset`; false beyond its end.
  std::function<bool(uint64_t offset, void* to, uint32_t bytes)> argument;
  /// The zero-terminated string at a device address.
  std::function<std::string(uint64_t address)> string;
};

/// Format as CUDA's printf does: C's conversions except %n; variable arguments lie in a buffer,
/// each aligned to its size (4 bytes, or 8 for doubles, pointers and long integers). Conversions
/// that are not supported are copied unchanged.
std::string format_printf(std::string_view format, const PrintfSource& source);

}  // namespace nearwarp::runtime
