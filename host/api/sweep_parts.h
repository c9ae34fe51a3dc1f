// Sweeps in parts that other processes run: which points of which part are done, as the files of
// results say that these write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "host/api/nearwarp.h"

namespace nearwarp::sweep {
class Places;
struct Plan;
struct Record;
struct ResultsFolder;
}  // namespace nearwarp::sweep

namespace nearwarp {

class SweepParts {
 public:
  /// Results go to the folder how.out. With how.retry failures count only where count_failures()
  /// says so. The sweep or experiment outlives it, as do plans.
  SweepParts(const Sweep& sweep, const SweepOptions& how);
  SweepParts(const Experiment& experiment, const SweepOptions& how);
  /// These sweeps are run one after the other: a point that several have is run for the first.
  SweepParts(std::vector<const sweep::Plan*> plans, const sweep::ResultsFolder& folder, bool retry);
  SweepParts(SweepParts&&) noexcept;
  ~SweepParts();

  /// A hash of all points in the order in which they are run.
  std::string id() const;
  std::filesystem::path folder() const;
  /// Points of all sweeps, those that several have as often as these do.
  size_t planned() const;

  /// Joins what parts have found to the file of the whole, where those look that run parts. Throws
  /// nearwarp::Error as sweep::join_parts() does.
  void join();
  /// Before what follows. No points are made but those of lines that another sweep wrote, and those
  /// that several sweeps may have.
  void divide(uint32_t parts);
  uint32_t parts() const { return static_cast<uint32_t>(files_.size()) - 1; }
  /// The file of the part's results; a single part's is the whole's.
  const std::string& file(uint32_t part) const { return files_[part].path; }

  /// Reads what has been written since. Throws nearwarp::Error for files of something else.
  void look();
  /// From here on, in bytes, failures in the part's file count.
  void count_failures(uint32_t part, uint64_t from) { files_[part].failures_from = from; }
  /// How far the part's file has been read, in bytes.
  uint64_t read(uint32_t part) const { return files_[part].offset; }

  size_t points() const { return points_; }
  size_t left() const;
  size_t left(uint32_t part) const { return files_[part].left; }

 private:
  struct File {
    std::string path;
    uint64_t offset = 0;
    uint64_t failures_from = 0;
    size_t left = 0;
  };
  /// The point of all plans' points in a row that the line is of.
  std::optional<size_t> find(const sweep::Record& record);
  void read_on(File& file);

  std::vector<const sweep::Plan*> plans_;
  std::unique_ptr<const sweep::ResultsFolder> folder_;
  bool retry_;
  std::vector<File> files_;     ///< of the whole, then of each part
  std::vector<uint32_t> part_;  ///< by point that is not done; else kDone
  size_t points_ = 0;
  std::vector<sweep::Places> places_;                ///< by plan
  std::vector<std::unordered_set<size_t>> earlier_;  ///< by plan: points that an earlier one has
};

}  // namespace nearwarp
