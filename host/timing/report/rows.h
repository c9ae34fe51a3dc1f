// Pairs the rows of two results that have the same key.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

namespace nearwarp::report {

/// Makes keys of rows unique: the second row with a key gets another one, and so on. The function
/// key(row) is found in the row's namespace.
class RowKeys {
 public:
  template <class Row>
  std::string next(const Row& row) {
    std::string k = key(row);
    return k + "\n" + std::to_string(times_[k]++);
  }

 private:
  std::unordered_map<std::string, uint32_t> times_;
};

/// Call each_sum(row of a, row of b, f) for rows with the same key; each_sum() is found in the
/// row's namespace. If `add_missing`, rows of `b` with other keys are added to `a`.
template <class Row, class F>
void each_row(std::vector<Row>& a, const std::vector<Row>& b, bool add_missing, F f) {
  // Results of one machine mostly have the same rows, in the same order.
  const auto has_same_key = [](const Row& x, const Row& y) { return key(x) == key(y); };
  if (std::ranges::equal(a, b, has_same_key)) {
    for (size_t i = 0; i < a.size(); ++i) each_sum(a[i], b[i], f);
    return;
  }
  std::unordered_map<std::string, size_t> at;
  RowKeys mine, others;
  for (size_t i = 0; i < a.size(); ++i) at.try_emplace(mine.next(a[i]), i);
  for (const Row& row : b) {
    if (const auto it = at.find(others.next(row)); it != at.end())
      each_sum(a[it->second], row, f);
    else if (add_missing)
      a.push_back(row);
  }
}

}  // namespace nearwarp::report
