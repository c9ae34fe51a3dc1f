// Results of memory runs, for people and for programs.
#pragma once

#include <span>
#include <string>

#include "host/timing/dram/points.h"

namespace nearwarp::dram {

inline constexpr const char* kDramSchema = "nearwarp.dram/1";

/// A column per point, at most 80 characters wide.
std::string table_text(std::span<const Point> points, std::span<const RunResult> results,
                       size_t width = 80);

/// The JSON document (docs/memory.md).
std::string json_text(std::span<const Point> points, std::span<const RunResult> results,
                      const RunOptions& options, const std::string& version);

}  // namespace nearwarp::dram
