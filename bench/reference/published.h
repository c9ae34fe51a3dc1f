// Published measurements of real GPUs, compared with measurements of the machines that stand for
// them: tests/validation/hopper_published.tsv, docs/hopper.md.
#pragma once

#include <string>
#include <vector>

namespace nearwarp::reference {

/// A published number.
struct Published {
  std::string machine;     ///< the machine that stands for the GPU
  std::string what_class;  ///< "latency" or "bandwidth"
  std::string what;
  bool set = false;  ///< the machine's constants were chosen by it; else it only checks
  double value = 0;
  std::string unit;  ///< "cycles", "GB/s" or "bytes/cycle/SM"
  std::string
      measured;  ///< our measurement: "probe SECTION:ROW" or "program NAME ARGUMENTS: BYTES"
  std::string source;
};

/// A published number and ours.
struct PublishedRow {
  Published published;
  double ours = 0;
  /// The relative error of ours.
  double error() const { return ours / published.value - 1; }
};

/// Reads the file's lines. Throws nearwarp::Error if it cannot be read, or is damaged.
std::vector<Published> read_published(const std::string& path);

/// The published numbers of a machine, measured on it or, unless that is empty, on `instead`, with
/// keys changed by `set` (KEY=VALUE). Throws nearwarp::Error for a line that names nothing
/// measurable.
std::vector<PublishedRow> measure_published(const std::vector<Published>& all,
                                            const std::string& machine, const std::string& instead,
                                            const std::vector<std::string>& set, unsigned threads);

/// A line for each number, then for each class of those that set constants and of those that only
/// check: how many, the mean absolute error, and the correlation of logarithms.
std::string published_text(const std::vector<PublishedRow>& rows);
/// The rows as numbers separated by commas.
std::string published_csv(const std::vector<PublishedRow>& rows);
/// A page with the table, and ours over theirs as points beside the diagonal.
std::string published_page(const std::string& title, const std::vector<PublishedRow>& rows);

}  // namespace nearwarp::reference
