#include "bench/workloads/heartwall/reference.h"

#include <algorithm>
#include <cmath>

#include "bench/workloads/common/random.h"

namespace nearwarp::workloads {
namespace {

constexpr int kPixels = kHeartTemplate * kHeartTemplate;
constexpr int kOffsets = kHeartSearch * kHeartSearch;
constexpr int kBorder = 24;  // further than the picture ever moves plus a search window
constexpr uint64_t kTextureStream = 80, kNoiseStream = 81;

int moved(int from, int offset, int end) {
  return std::clamp(from + offset - kHeartSearch / 2, 0, end - kHeartTemplate);
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
    int32_t& x0 = tracks.points[2 * p];
    int32_t& y0 = tracks.points[2 * p + 1];
    float mean = 0.0f;
    for (int i = 0; i < kPixels; ++i) mean += pattern[i];
    mean *= 1.0f / kPixels;
    float score[kOffsets];
    int best[kOffsets];
    for (int offset = 0; offset < kOffsets; ++offset) {
      const int x = moved(x0, offset % kHeartSearch, film.width);
      const int y = moved(y0, offset / kHeartSearch, film.height);
      float sum = 0.0f, squares = 0.0f, product = 0.0f;
      for (int i = 0; i < kPixels; ++i) {
        const float value =
            frame[size_t(y + i / kHeartTemplate) * film.width + x + i % kHeartTemplate];
        sum += value;
        squares += value * value;
        product += value * (pattern[i] - mean);
      }
      const float variance = squares - sum * sum * (1.0f / kPixels);
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
    x0 = moved(x0, best[0] % kHeartSearch, film.width);
    y0 = moved(y0, best[0] / kHeartSearch, film.height);
    for (int i = 0; i < kPixels; ++i) {
      const float found =
          frame[size_t(y0 + i / kHeartTemplate) * film.width + x0 + i % kHeartTemplate];
      pattern[i] = kHeartKeep * pattern[i] + (1.0f - kHeartKeep) * found;
    }
  }
}

}  // namespace nearwarp::workloads
