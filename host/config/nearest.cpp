// Suggests valid names for a misspelt one, by edit distance.
#include "host/config/nearest.h"

#include <algorithm>
#include <utility>

namespace nearwarp::config {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = above;
    above = row;
  }
  return above[b.size()];
}

namespace {

/// The largest distance of a near name: a third of the letters, but two from four letters on.
size_t distance_limit(std::string_view name) {
  return std::max<size_t>(name.size() < 4 ? 1 : 2, name.size() / 3);
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& names) {
  // If no name is near by its distance, the only name that contains `name` is taken ("l1.ways" for
  // "ways").
  std::string best;
  size_t best_distance = distance_limit(name) + 1;
  for (const std::string& other : names) {
    const size_t distance = edit_distance(name, other);
    if (distance < best_distance) {
      best_distance = distance;
      best = other;
    }
  }
  if (!best.empty() || name.size() < 3) return best;
  size_t containing = 0;
  for (const std::string& other : names) {
    if (other.find(name) == std::string::npos) continue;
    containing += 1;
    best = other;
  }
  return containing == 1 ? best : std::string();
}

std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& names,
                                       size_t most) {
  std::vector<std::pair<size_t, std::string>> near;  // distance and name
  for (const std::string& other : names) {
    const size_t distance = edit_distance(name, other);
    if (distance <= distance_limit(name) ||
        (name.size() >= 3 && other.find(name) != std::string::npos))
      near.emplace_back(distance, other);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> nearest;
  for (size_t i = 0; i < std::min(most, near.size()); ++i) nearest.push_back(near[i].second);
  return nearest;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& names,
                         size_t most) {
  std::string near;
  for (const std::string& other : nearest_names(name, names, most))
    near += (near.empty() ? "did you mean '" : " or '") + other + "'";
  return near.empty() ? near : near + "? ";
}

std::string suggestion(std::string_view name, const std::vector<std::string>& names) {
  const std::string near = nearest_name(name, names);
  if (!near.empty()) return " - did you mean '" + near + "'?";
  std::string list;
  for (const std::string& valid : names) list += (list.empty() ? "" : ", ") + valid;
  return list.empty() ? std::string() : " - valid: " + list;
}

}  // namespace nearwarp::config
