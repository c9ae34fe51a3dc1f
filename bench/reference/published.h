// Measurements of others on real GPUs, beside the same of the machines that stand for them:
// tests/validation/hopper_published.tsv, docs/hopper.md.
#pragma once

#include <string>
#include <vector>

namespace nearwarp::reference {

/// A published number.
struct Published {
  std::string machine;     ///< that stands for the GPU
  std::string what_class;  ///< "latency" or "bandwidth"
  std::string what;
  bool set = false;  ///< the machine's constants were chosen by it; else it only checks
  double value = 0;
  std::string unit;      ///< "cycles", "GB/s" or "bytes/cycle/SM"
  std::string measured;  ///< what of ours is compared
  std::string source;
};

/// One beside ours.
struct PublishedRow {
  Published published;
  double ours = 0;
  /// Ours less theirs, of theirs.
  double error() const { return ours / published.value - 1; }
};

/// The file's lines. Throws nearwarp::Error if it cannot be read, or is damaged.
std::vector<Published> read_published(const std::string& path);

/// Rows of a machine, measured on it, or on `instead` with keys changed by `set` (KEY=VALUE).
/// Throws nearwarp::Error where a line names nothing that can be measured.
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
