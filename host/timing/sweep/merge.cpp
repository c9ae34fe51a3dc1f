// Joins the files of a sweep's parts.
#include "host/timing/sweep/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "host/core/error_parts.h"
#include "host/timing/report/file.h"
#include "host/timing/sweep/format.h"
#include "host/timing/sweep/results_file.h"

namespace nearwarp::sweep {
namespace {

/// A line of a point: its place in the inputs, and what it is ordered and compared by.
struct Entry {
  size_t input = 0;
  uint64_t number = 0;             ///< number of the line, from 1
  uint64_t offset = 0, bytes = 0;  ///< place of the line in its file, without its line feed
  size_t sweep = 0;                ///< number of its sweep, in order of first appearance
  uint64_t index = 0;              ///< index of the point in its sweep
  Hash128 content = {};
  bool failed = false;
};

class Merge {
 public:
  Merge(const std::vector<std::string>& inputs, const MergeRules& rules)
      : inputs_(inputs), rules_(rules) {
    for (const std::string& id : rules.order) sweeps_.try_emplace(id, sweeps_.size());
  }

  MergeOutcome read() {
    MergeOutcome outcome;
    for (size_t input = 0; input < inputs_.size(); ++input) {
      std::string rest;
      for_each_line(
          inputs_[input],
          [&](uint64_t number, uint64_t offset, std::string_view text) {
            add(input, number, offset, text, outcome);
          },
          rest);
      if (!rest.empty() && !is_torn_line(rest)) {
        throw Error(fmt::format("'{}' holds something else than a sweep's results - leave it out",
                                inputs_[input]));
      }
      if (!rest.empty()) outcome.torn.push_back(inputs_[input]);
    }
    outcome.points = entries_.size();
    for (const auto& [id, entry] : entries_) outcome.failed += entry.failed ? 1 : 0;
    return outcome;
  }

  /// Call write(line) for the line of each point, in order.
  template <class Write>
  void write_all(Write write) {
    std::vector<const Entry*> order;
    for (const auto& [id, entry] : entries_) order.push_back(&entry);
    std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
      return std::tie(a->sweep, a->index, a->input, a->number) <
             std::tie(b->sweep, b->index, b->input, b->number);
    });
    for (const Entry* entry : order) write(line_of(*entry) + "\n");
  }

 private:
  void add(size_t input, uint64_t number, uint64_t offset, std::string_view text,
           MergeOutcome& outcome) {
    const Record record = read_line(text, fmt::format("{}:{}", inputs_[input], number));
    Entry entry{input, number, offset, text.size()};
    entry.sweep = sweeps_.try_emplace(record.sweep, sweeps_.size()).first->second;
    entry.index = record.index;
    entry.content = record.content;
    entry.failed = record.summary.failed();
    const auto [at, is_new] = entries_.try_emplace(record.id, entry);
    if (is_new) return;
    outcome.duplicates += 1;
    Entry& there = at->second;
    const bool may_differ = rules_.failures_may_differ || there.input == input;
    if (there.failed && (!entry.failed || may_differ)) {
      there = entry;
    } else if (there.failed == entry.failed && there.content != entry.content) {
      throw Error(
          fmt::format("point {} ({}) differs in '{}' between {}:{} and {}:{} - equal points have "
                      "equal results; "
                      "was one part made by another build of the program?",
                      record.id, record.title, difference(line_of(there), text),
                      inputs_[there.input], there.number, inputs_[input], number));
    }
  }

  std::string line_of(const Entry& entry) {
    std::ifstream& file = opened(entry.input);
    file.seekg(static_cast<std::streamoff>(entry.offset));
    std::string line(entry.bytes, '\0');
    file.read(line.data(), static_cast<std::streamsize>(line.size()));
    if (!file) {
      throw file_error(inputs_[entry.input],
                       fmt::format("cannot read '{}' again", inputs_[entry.input]),
                       "did something write to it meanwhile?");
    }
    return line;
  }

  /// An input, open. Parts' points take turns, so the inputs stay open, as many as a process may
  /// well have.
  std::ifstream& opened(size_t input) {
    if (const auto at = open_.find(input); at != open_.end()) return at->second;
    if (open_.size() == kMaxOpen) open_.clear();
    return open_.try_emplace(input, inputs_[input], std::ios::binary).first->second;
  }

  static constexpr size_t kMaxOpen = 200;
  const std::vector<std::string>& inputs_;
  const MergeRules& rules_;
  std::unordered_map<std::string, Entry> entries_;  ///< by id of the point
  std::unordered_map<std::string, size_t> sweeps_;  ///< Entry::sweep by id of the sweep
  std::unordered_map<size_t, std::ifstream> open_;  ///< by number of the input
};

}  // namespace

MergeOutcome merge(const std::vector<std::string>& inputs, const std::string& output,
                   const MergeRules& rules) {
  report::check_writable(output);
  Merge merge(inputs, rules);
  MergeOutcome outcome = merge.read();
  report::FileWriter writer(output);
  merge.write_all([&](const std::string& line) { writer.write(line); });
  writer.commit();
  return outcome;
}

}  // namespace nearwarp::sweep
