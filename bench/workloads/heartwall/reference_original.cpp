#include "bench/workloads/heartwall/reference_original.h"

#include <algorithm>
#include <cmath>

namespace nearwarp::workloads {
namespace {

constexpr int kPeriod = 10, kMove = 10;
constexpr float kKeep = 0.87f;

/// A square matrix of columns.
struct Square {
  int side;
  std::vector<float> values;
  explicit Square(int n) : side(n), values(size_t(n) * n, 0.0f) {}
  float& at(int row, int column) { return values[size_t(column) * side + row]; }
  float at(int row, int column) const { return values[size_t(column) * side + row]; }
};

/// `side` x `side` pixels of the frame from (top, left).
Square cut(const HeartFilm& film, const std::vector<float>& frame, int top, int left, int side) {
  Square square(side);
  for (int column = 0; column < side; ++column) {
    for (int row = 0; row < side; ++row)
      square.at(row, column) = frame[size_t(left + column) * film.width + top + row];
  }
  return square;
}

/// All places at which a template of `in` pixels a side overlaps with the window: cumulative sums
/// of the padded window down its columns, differences, then the same along the rows.
Square sums_under_template(const Square& window, int in) {
  const int c = in + window.side - 1, p = window.side + 2 * in;
  Square down(p), along(p), sums(c);
  for (int column = 0; column < p; ++column) {
    float sum = 0.0f;
    for (int row = 0; row < p; ++row) {
      const int r = row - in, k = column - in;
      const bool inside = r >= 0 && r < window.side && k >= 0 && k < window.side;
      down.at(row, column) = sum += inside ? window.at(r, k) : 0.0f;
    }
  }
  for (int row = 0; row < c; ++row) {
    float sum = 0.0f;
    for (int column = 0; column < p; ++column)
      along.at(row, column) = sum += down.at(row + in, column) - down.at(row, column);
    for (int column = 0; column < c; ++column)
      sums.at(row, column) = along.at(row, column + in) - along.at(row, column);
  }
  return sums;
}

Square convolution(const Square& pattern, const Square& window) {
  const int in = pattern.side, c = in + window.side - 1;
  Square result(c);
  for (int column = 0; column < c; ++column) {
    for (int row = 0; row < c; ++row) {
      float sum = 0.0f;
      for (int a = std::max(column - window.side + 1, 0); a < std::min(column + 1, in); ++a) {
        for (int b = std::max(row - window.side + 1, 0); b < std::min(row + 1, in); ++b)
          sum += pattern.at(in - 1 - b, in - 1 - a) * window.at(row - b, column - a);
      }
      result.at(row, column) = sum;
    }
  }
  return result;
}

/// Normalised correlation of the template with the window at all places.
Square correlation(const Square& pattern, const Square& window) {
  const auto pixels = static_cast<float>(pattern.values.size());
  Square squares = window;
  for (float& value : squares.values) value *= value;
  const Square sums = sums_under_template(window, pattern.side);
  const Square square_sums = sums_under_template(squares, pattern.side);
  float sum = 0.0f, square_sum = 0.0f;
  for (int column = 0; column < pattern.side; ++column) {
    float part = 0.0f, square_part = 0.0f;
    for (int row = 0; row < pattern.side; ++row) {
      part += pattern.at(row, column);
      square_part += pattern.at(row, column) * pattern.at(row, column);
    }
    sum += part;
    square_sum += square_part;
  }
  const float mean = sum / pixels, norm = std::sqrt(square_sum - sum * mean);
  Square result = convolution(pattern, window);
  for (size_t i = 0; i < result.values.size(); ++i) {
    const float variance = square_sums.values[i] - sums.values[i] * sums.values[i] / pixels;
    const float below = std::sqrt(variance > 0.0f ? variance : 0.0f) * norm;
    const float covariance = result.values[i] - sums.values[i] * mean;
    result.values[i] = below > 0.0f ? covariance / below : 0.0f;
  }
  return result;
}

}  // namespace

HeartWalls heart_walls_start(const HeartFilm& film, const HeartSizes& sizes) {
  constexpr int kColumns = 17, kRows = kHeartPoints / kColumns;
  const int border = sizes.s + 2 * sizes.t + 1;
  HeartWalls walls;
  for (int i = 0; i < kHeartPoints; ++i) {
    walls.points.push_back(border + i % kColumns * (film.width - 2 * border) / kColumns);
    walls.points.push_back(border + i / kColumns * (film.height - 2 * border) / kRows);
  }
  walls.places = walls.points;
  walls.templates.resize(size_t(kHeartPoints) * (2 * sizes.t + 1) * (2 * sizes.t + 1));
  return walls;
}

void heart_walls_track(const HeartFilm& film, const HeartSizes& sizes,
                       const std::vector<float>& frame, int number, HeartWalls& walls) {
  const int t = sizes.t, s = sizes.s, in = 2 * t + 1;
  for (int p = 0; p < kHeartPoints; ++p) {
    float* const kept = &walls.templates[size_t(p) * in * in];
    int32_t* const point = &walls.points[2 * p];
    int32_t* const place = &walls.places[2 * p];
    if (number == 0) {
      const Square first = cut(film, frame, point[0] - t, point[1] - t, in);
      std::copy(first.values.begin(), first.values.end(), kept);
      continue;
    }
    Square pattern(in);
    std::copy(kept, kept + size_t(in) * in, pattern.values.begin());
    Square score = correlation(pattern, cut(film, frame, point[0] - s, point[1] - s, 2 * s + 1));
    const int row_was = place[0] - point[0] + t + s, column_was = place[1] - point[1] + t + s;
    const auto near = [](int now, int was) {
      return now - was >= -kMove / 2 && now - was < kMove - kMove / 2;
    };
    int best_row = 0, best_column = 0;
    for (int row = 0; row < score.side; ++row) {
      int at = 0;  // the row's first maximum
      for (int column = 0; column < score.side; ++column) {
        if (!near(row, row_was) || !near(column, column_was)) score.at(row, column) = 0.0f;
        if (score.at(row, column) > score.at(row, at)) at = column;
      }
      if (score.at(row, at) > score.at(best_row, best_column)) {
        best_row = row;
        best_column = at;
      }
      if (row == 0) best_column = at;
    }
    place[0] = point[0] + best_row - t - s;
    place[1] = point[1] + best_column - t - s;
    if (number % kPeriod != 0) continue;
    const Square now = cut(film, frame, place[0] - t, place[1] - t, in);
    for (size_t i = 0; i < now.values.size(); ++i)
      kept[i] = kKeep * kept[i] + (1.0f - kKeep) * now.values[i];
    point[0] = place[0];
    point[1] = place[1];
  }
}

}  // namespace nearwarp::workloads
