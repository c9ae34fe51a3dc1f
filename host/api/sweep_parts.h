// Keeps track of sweeps whose parts other processes run: reads from the files of results, which
// these write, the points of each part that are done.
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
  /// Results go to the folder how.out. With how.retry, a point that failed is not done, except
  /// where count_failures() says so. The sweep, experiment or plans must outlive this object.
  SweepParts(const Sweep& sweep, const SweepOptions& how);
  SweepParts(const Experiment& experiment, const SweepOptions& how);
  /// The plans' sweeps are run one after the other; a point that several have is run for the first.
  SweepParts(std::vector<const sweep::Plan*> plans, const sweep::ResultsFolder& folder, bool retry);
  SweepParts(SweepParts&&) noexcept;
  ~SweepParts();

  /// A hash of all points in the order in which they are run.
  std::string id() const;
  std::filesystem::path folder() const;
  /// The number of points of all sweeps. A point that several have counts once for each of them.
  size_t planned() const;

  /// Adds the parts' results to the file of the whole, in which processes that run parts look for
  /// points that are done. Throws nearwarp::Error as sweep::join_parts() does.
  void join();
  /// Divides the points into parts; to be called before the functions below. Points' configurations
  /// are made only for lines that another sweep wrote, and for points that several sweeps may have.
  void divide(uint32_t parts);
  uint32_t parts() const { return static_cast<uint32_t>(files_.size()) - 1; }
  /// The file of a part's results; if there is one part only, that of the whole.
  const std::string& file(uint32_t part) const { return files_[part].path; }

  /// Reads the lines that were written since the last call. Throws nearwarp::Error for files that
  /// hold something else.
  void look();
  /// Takes failed points as done that stand behind the first `from` bytes of the part's file.
  void count_failures(uint32_t part, uint64_t from) { files_[part].failures_from = from; }
  /// The number of bytes of the part's file that have been read.
  uint64_t read(uint32_t part) const { return files_[part].offset; }

  size_t points() const { return points_; }
  size_t left() const;
  size_t left(uint32_t part) const { return files_[part].left; }

 private:
  struct File {
    std::string path;
    uint64_t offset = 0;         ///< bytes that have been read
    uint64_t failures_from = 0;  ///< see count_failures()
    size_t left = 0;             ///< points of the part that are not done
  };
  /// The point that a line is of, as an index into the points of all plans in a row.
  std::optional<size_t> find(const sweep::Record& record);
  void read_on(File& file);

  std::vector<const sweep::Plan*> plans_;
  std::unique_ptr<const sweep::ResultsFolder> folder_;
  bool retry_;
  std::vector<File> files_;     ///< the whole's, then each part's
  std::vector<uint32_t> part_;  ///< by point: its part, or kDone
  size_t points_ = 0;
  std::vector<sweep::Places> places_;                ///< by plan
  std::vector<std::unordered_set<size_t>> earlier_;  ///< by plan: points that an earlier one has
};

}  // namespace nearwarp
