// The file that a sweep appends its results to, so that nothing finished is lost when it is killed.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/timing/sweep/format.h"

namespace nearwarp::sweep {

/// Call `visit` for each whole line of the file, with its number from 1, its offset in bytes and
/// its text without line feed. Returns the offset after the last line feed, and the text beyond it
/// in `rest`. Throws nearwarp::Error if the file cannot be read.
uint64_t for_each_line(
    const std::string& path,
    const std::function<void(uint64_t number, uint64_t offset, std::string_view text)>& visit,
    std::string& rest);

/// The results that a sweep has so far, and the file that it appends further ones to.
class ResultsFile {
 public:
  /// Open or create the file, lock it against other processes, and read its results. A last line
  /// without its end (the program was killed while writing it) is dropped. Throws nearwarp::Error
  /// if the file cannot be opened, another sweep writes it, or it holds something else.
  explicit ResultsFile(const std::string& path);
  ~ResultsFile();
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  const std::string& path() const { return path_; }
  bool dropped_torn_line() const { return dropped_; }
  /// A point's id, and its results.
  using Entry = std::pair<const std::string, Summary>;
  /// The point with this id, or nullptr if the file does not have it. Of several lines with the
  /// same id the last one counts.
  const Entry* find(const std::string& id) const;
  /// The point `index` of the sweep with this id, or nullptr. The point does not have to be made.
  const Entry* find(const std::string& sweep, uint64_t index) const;
  /// Were all lines written by this sweep?
  bool is_of(const std::string& sweep) const;
  /// Read the results of another file, which another process writes, so that they are found, too.
  /// Throws nearwarp::Error if it cannot be read.
  void read_also(const std::string& path);
  /// Look up the plans' points in lines that other sweeps wrote, so that find() by index finds
  /// them. Throws Interrupted if `goes_on`, which is called now and then, returns false.
  void place(std::span<const Plan* const> plans, const std::function<bool()>& goes_on = {});
  bool is_placed(const std::string& sweep) const { return placed_.contains(sweep); }
  /// Write a line at once. Throws nearwarp::Error (a full disk); the file then ends as before.
  void append(const std::string& line);

 private:
  void open();
  /// Add a record. `overwrites`: it replaces an earlier one with the same id; else it replaces only
  /// a failed one.
  void take(Record record, bool overwrites);
  std::string path_;
  std::vector<std::string> also_;  ///< other files that were read
  int fd_ = -1;
  bool dropped_ = false;
  uint64_t bytes_ = 0;                             ///< size of the file's whole lines
  std::unordered_map<std::string, Summary> done_;  ///< by the id of the point
  /// By the id of the sweep, and the index of the point in it.
  std::unordered_map<std::string, std::unordered_map<uint64_t, const Entry*>> places_;
  std::set<std::string> placed_;  ///< sweeps whose points place() has looked up
};

/// The result of the plan's point, or nullptr if the file does not have it. The point is made only
/// if the file has lines of other sweeps, and place() has not looked up this plan's points.
const ResultsFile::Entry* find_point(const Plan& plan, const ResultsFile& file, size_t index);

}  // namespace nearwarp::sweep
