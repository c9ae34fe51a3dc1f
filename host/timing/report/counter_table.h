// Tables of counters: the name of each, what it counts, and how it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/timing/report/result.h"

namespace nearwarp::report {

/// One counter that every component of a kind has; `N` is the struct of such a component's
/// counters.
template <class N>
struct CounterRow {
  const char* name;  ///< without the prefix of its table
  const char* unit;
  const char* text;  ///< what is counted
  uint64_t (*read)(const N&);
};

/// The sums over components of the counters of a table.
template <class N>
class CounterSums {
 public:
  explicit CounterSums(std::span<const CounterRow<N>> rows) : rows_(rows), sums_(rows.size()) {}

  void add(const N& component) {
    for (size_t i = 0; i < rows_.size(); ++i) sums_[i] += rows_[i].read(component);
  }
  /// Append them to `result`, in the table's order, as `prefix` + name.
  void append_to(RunResult& result, std::string_view prefix) const {
    for (size_t i = 0; i < rows_.size(); ++i)
      result.counters.push_back(
          {std::string(prefix) + rows_[i].name, sums_[i], rows_[i].unit, rows_[i].text});
  }

 private:
  std::span<const CounterRow<N>> rows_;
  std::vector<uint64_t> sums_;
};

}  // namespace nearwarp::report
