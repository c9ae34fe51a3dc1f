#include "bench/workloads/heartwall/reference.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/workloads/common/random.h"

namespace nearwarp::workloads {
namespace {

constexpr int kPixels = kHeartTemplate * kHeartTemplate;
constexpr int kOffsets = kHeartSearch * kHeartSearch;
constexpr int kBorder = 24;  // further than the picture ever moves plus a search window
constexpr uint64_t kTextureStream = 80, kNoiseStream = 81;

using Offsets = std::array<float, kOffsets>;

/// The sum of the template's extent of a search window at every offset, from cumulative sums.
Offsets sums_under_template(const std::vector<float>& in) {
  constexpr int kWindow = kHeartWindow;
  std::vector<float> down(in.size()), columns(size_t(kHeartSearch) * kWindow),
      along(columns.size());
  for (int column = 0; column < kWindow; ++column) {
    float sum = 0.0f;
    for (int row = 0; row < kWindow; ++row)
      down[row * kWindow + column] = sum += in[row * kWindow + column];
  }
  for (int i = 0; i < kHeartSearch * kWindow; ++i) {
    columns[i] =
        down[i + (kHeartTemplate - 1) * kWindow] - (i < kWindow ? 0.0f : down[i - kWindow]);
  }
  for (int row = 0; row < kHeartSearch; ++row) {
    float sum = 0.0f;
    for (int column = 0; column < kWindow; ++column)
      along[row * kWindow + column] = sum += columns[row * kWindow + column];
  }
  Offsets sums;
  for (int offset = 0; offset < kOffsets; ++offset) {
    const int first = offset / kHeartSearch * kWindow + offset % kHeartSearch;
    sums[offset] =
        along[first + kHeartTemplate - 1] - (offset % kHeartSearch == 0 ? 0.0f : along[first - 1]);
  }
  return sums;
}

}  // namespace

int heart_shift_x(int t) { return t % 8 < 4 ? 3 * (t % 8) : 3 * (8 - t % 8); }
int heart_shift_y(int t) { return t % 4 < 2 ? -5 * (t % 4) : -5 * (4 - t % 4); }

std::vector<float> heart_frame(const HeartFilm& film, int t) {
  std::vector<float> frame(size_t(film.width) * film.height);
  for (int y = 0; y < film.height; ++y) {
    for (int x = 0; x < film.width; ++x) {
      const auto u = static_cast<uint32_t>(x - heart_shift_x(t) + 64);
      const auto v = static_cast<uint32_t>(y - heart_shift_y(t) + 64);
      const size_t i = size_t(y) * film.width + x;
      frame[i] = random_unit(kTextureStream, (uint64_t{v} << 32) | u) +
                 0.25f * random_unit(kNoiseStream + t, i);
    }
  }
  return frame;
}

HeartTracks heart_start(const HeartFilm& film, const std::vector<float>& frame, int columns,
                        int rows) {
  HeartTracks tracks;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const int x = kBorder + column * (film.width - 2 * kBorder) / columns;
      const int y = kBorder + row * (film.height - 2 * kBorder) / rows;
      tracks.points.push_back(x);
      tracks.points.push_back(y);
      for (int i = 0; i < kPixels; ++i) {
        tracks.templates.push_back(
            frame[size_t(y + i / kHeartTemplate) * film.width + x + i % kHeartTemplate]);
      }
    }
  }
  return tracks;
}

void heart_track(const HeartFilm& film, const std::vector<float>& frame, HeartTracks& tracks) {
  for (size_t p = 0; p < tracks.points.size() / 2; ++p) {
    float* pattern = &tracks.templates[p * kPixels];
    int32_t& px = tracks.points[2 * p];
    int32_t& py = tracks.points[2 * p + 1];
    const int x = std::clamp(px - kHeartSearch / 2, 0, film.width - kHeartWindow);
    const int y = std::clamp(py - kHeartSearch / 2, 0, film.height - kHeartWindow);
    std::vector<float> window, squares;
    for (int i = 0; i < kHeartWindow * kHeartWindow; ++i) {
      window.push_back(frame[size_t(y + i / kHeartWindow) * film.width + x + i % kHeartWindow]);
      squares.push_back(window.back() * window.back());
    }
    const auto pixel = [&](int offset, int i) {
      return window[(offset / kHeartSearch + i / kHeartTemplate) * kHeartWindow +
                    offset % kHeartSearch + i % kHeartTemplate];
    };
    const Offsets sums = sums_under_template(window), square_sums = sums_under_template(squares);
    float mean = 0.0f;
    for (int i = 0; i < kPixels; ++i) mean += pattern[i];
    mean *= 1.0f / kPixels;
    Offsets score;
    int best[kOffsets];
    for (int offset = 0; offset < kOffsets; ++offset) {
      float product = 0.0f;
      for (int i = 0; i < kPixels; ++i) product += pixel(offset, i) * (pattern[i] - mean);
      const float variance = square_sums[offset] - sums[offset] * sums[offset] * (1.0f / kPixels);
      score[offset] = variance > 1.0e-6f ? product / std::sqrt(variance) : -2.0f;
      best[offset] = offset;
    }
    for (int half = kOffsets / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) {
        if (!(score[i + half] > score[i])) continue;
        score[i] = score[i + half];
        best[i] = best[i + half];
      }
    }
    px = x + best[0] % kHeartSearch;
    py = y + best[0] / kHeartSearch;
    for (int i = 0; i < kPixels; ++i)
      pattern[i] = kHeartKeep * pattern[i] + (1.0f - kHeartKeep) * pixel(best[0], i);
  }
}

}  // namespace nearwarp::workloads
