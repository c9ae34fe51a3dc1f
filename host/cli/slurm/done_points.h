// Which points of which part are done, as the files of results say that other programs write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/timing/sweep/places.h"
#include "host/timing/sweep/plan.h"
#include "host/timing/sweep/results_folder.h"

namespace nearwarp::cli {

class DonePoints {
 public:
  /// Of these sweeps, run one after the other in so many parts: a point that several have is run
  /// for the first. With `retry` failures count only where count_failures() says so. Of a single
  /// sweep no points are made but those of lines that another one wrote. The plans outlive it.
  DonePoints(const std::vector<const sweep::Plan*>& plans, const sweep::ResultsFolder& folder,
             uint32_t parts, bool retry);

  /// Reads what has been written since. Throws nearwarp::Error for files of something else.
  void look();
  /// From here on, in bytes, failures in the part's file count.
  void count_failures(uint32_t part, uint64_t from) { files_[part].failures_from = from; }
  /// How far the part's file has been read, in bytes.
  uint64_t read(uint32_t part) const { return files_[part].offset; }

  uint32_t parts() const { return static_cast<uint32_t>(files_.size()) - 1; }
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
  /// A point of all plans' points in a row.
  void add(size_t point, size_t index);
  std::optional<size_t> find(const sweep::Record& record);
  void read_on(File& file);

  std::vector<File> files_;     ///< of the whole, then of each part
  std::vector<uint32_t> part_;  ///< by point that is not done; else kDone
  size_t points_ = 0;
  // Of a single sweep.
  std::string sweep_;
  std::optional<sweep::Places> places_;
  std::unordered_map<std::string, size_t> by_id_;  ///< of several
};

}  // namespace nearwarp::cli
