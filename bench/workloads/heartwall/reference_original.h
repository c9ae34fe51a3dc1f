// The tracking of Rodinia's heartwall on the CPU, in the device's order of operations.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/workloads/heartwall/reference.h"

namespace nearwarp::workloads {

inline constexpr int kHeartPoints = 51;  ///< 20 of the inner wall, 31 of the outer

struct HeartSizes {
  int t = 0;  ///< the template has 2t + 1 pixels a side
  int s = 0;  ///< the search window 2s + 1
};

struct HeartWalls {
  std::vector<int32_t> points;   ///< row and column where each point's window lies
  std::vector<int32_t> places;   ///< row and column of each point
  std::vector<float> templates;  ///< [point][column][row]
};

/// Points on a grid, so far from the border that all windows of the film lie inside. A frame's rows
/// are `film.width` long columns: value [column * film.width + row].
HeartWalls heart_walls_start(const HeartFilm& film, const HeartSizes& sizes);
/// Follow every point into frame `number`; number 0 sets the templates.
void heart_walls_track(const HeartFilm& film, const HeartSizes& sizes,
                       const std::vector<float>& frame, int number, HeartWalls& walls);

}  // namespace nearwarp::workloads
