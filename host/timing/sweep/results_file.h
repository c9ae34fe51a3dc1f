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

/// Calls `visit` for each whole line of the file, with its number from 1, its offset and its text
/// without line feed. Returns the offset after the last line feed, and the text beyond it in
/// `rest`. Throws nearwarp::Error if the file cannot be read.
uint64_t for_each_line(
    const std::string& path,
    const std::function<void(uint64_t number, uint64_t offset, std::string_view text)>& visit,
    std::string& rest);

class ResultsFile {
 public:
  /// Opens the file, or makes it, for one process at a time, and reads what is there. A last line
  /// without its end (the program was killed while writing it) is dropped. Throws nearwarp::Error
  /// if the file cannot be had or holds something else.
  explicit ResultsFile(const std::string& path);
  ~ResultsFile();
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  const std::string& path() const { return path_; }
  bool dropped_torn_line() const { return dropped_; }
  /// A point's id, and its numbers.
  using Entry = std::pair<const std::string, Summary>;
  /// The point, or nullptr if it is not in the file. The last line of an id counts.
  const Entry* find(const std::string& id) const;
  /// The point `index` of the sweep with this id: it does not have to be made for that.
  const Entry* find(const std::string& sweep, uint64_t index) const;
  /// Was all of it written by this sweep?
  bool is_of(const std::string& sweep) const;
  /// From now on points of this file, which somebody else writes, are found, too. Throws
  /// nearwarp::Error if it cannot be read.
  void read_also(const std::string& path);
  /// From now on what other sweeps have written of the plans' points is found by place, too.
  /// `goes_on` is asked now and then; Interrupted if it does not.
  void place(std::span<const Plan* const> plans, const std::function<bool()>& goes_on = {});
  bool is_placed(const std::string& sweep) const { return placed_.contains(sweep); }
  /// Write a line at once. Throws nearwarp::Error (a full disk); the file then ends as before.
  void append(const std::string& line);

 private:
  void open();
  /// `overwrites`: it counts, whatever is there.
  void take(Record record, bool overwrites);
  std::string path_;
  std::vector<std::string> also_;  ///< other files that were read
  int fd_ = -1;
  bool dropped_ = false;
  uint64_t bytes_ = 0;
  std::unordered_map<std::string, Summary> done_;
  /// By the id of the sweep, and the place in it.
  std::unordered_map<std::string, std::unordered_map<uint64_t, const Entry*>> places_;
  std::set<std::string> placed_;  ///< sweeps whose points in other sweeps' lines have places
};

/// The plan's point, or nullptr if it is not in the file. It is made only if the file has points of
/// other sweeps, too, which place() was not asked for.
const ResultsFile::Entry* find_point(const Plan& plan, const ResultsFile& file, size_t index);

}  // namespace nearwarp::sweep
