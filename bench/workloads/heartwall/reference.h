// The film that `heartwall` tracks points in, and the tracking on the CPU.
#pragma once

#include <cstdint>
#include <vector>

namespace nearwarp::workloads {

inline constexpr int kHeartTemplate = 8;  ///< pixels along a template's side; as in heartwall.cu
inline constexpr int kHeartSearch = 16;   ///< offsets along a search window's side
/// Pixels along a search window's side.
inline constexpr int kHeartWindow = kHeartSearch + kHeartTemplate - 1;
/// Values in the device's buffers of one point (Buffers in heartwall.cu).
inline constexpr int kHeartBuffer = 3 * kHeartWindow * kHeartWindow +
                                    2 * kHeartSearch * kHeartWindow +
                                    3 * kHeartSearch * kHeartSearch;
inline constexpr float kHeartKeep = 0.9f;  ///< the old template's share in the new one

/// A texture that moves by known steps, with noise of its own in every frame.
struct HeartFilm {
  int width = 0, height = 0;
  int num_frames = 0;
};

struct HeartTracks {
  std::vector<int32_t> points;   ///< column and row of each point
  std::vector<float> templates;  ///< [point][kHeartTemplate * kHeartTemplate]
};

/// How far the picture has moved by frame `t`, in pixels; less than the window between frames.
int heart_shift_x(int t);
int heart_shift_y(int t);

std::vector<float> heart_frame(const HeartFilm& film, int t);
/// Points on a grid of columns x rows with their templates out of frame 0.
HeartTracks heart_start(const HeartFilm& film, const std::vector<float>& frame, int columns,
                        int rows);
/// Follow every point into `frame`, in the device's order of operations.
void heart_track(const HeartFilm& film, const std::vector<float>& frame, HeartTracks& tracks);

}  // namespace nearwarp::workloads
