// Which points of which part are done, as the files of results say that other programs write.
#include "host/cli/slurm/done_points.h"

#include <fmt/format.h>

#include <fstream>
#include <limits>

#include "host/timing/sweep/format.h"

namespace nearwarp::cli {

DonePoints::DonePoints(const std::vector<const sweep::Plan*>& plans,
                       const sweep::ResultsFolder& folder, uint32_t parts, bool retry)
    : files_(parts + 1) {
  files_[0].path = folder.whole();
  // A single part's file is the whole's.
  for (uint32_t part = 1; part <= parts; ++part) files_[part].path = folder.part({part, parts});
  for (File& file : files_) file.failures_from = retry ? std::numeric_limits<uint64_t>::max() : 0;
  for (const sweep::Plan* plan : plans) {
    for (const sweep::Point& point : plan->points) {
      const uint32_t part = sweep::part_of(point.index, parts);
      if (points_.try_emplace(point.id, Point{part}).second) files_[part].left += 1;
    }
  }
}

void DonePoints::look() {
  read_on(files_[0]);
  for (File& file : files_)
    if (file.left != 0) read_on(file);  // the whole's has no points of its own
}

size_t DonePoints::left() const {
  size_t points = 0;
  for (const File& file : files_) points += file.left;
  return points;
}

void DonePoints::read_on(File& file) {
  // Opened anew each time: on a network's file system that is what asks the server.
  std::ifstream stream(file.path, std::ios::binary);
  if (!stream || !stream.seekg(static_cast<std::streamoff>(file.offset))) return;
  for (std::string line; std::getline(stream, line) && !stream.eof();) {
    const sweep::Record record =
        sweep::read_line(line, fmt::format("'{}', after {} bytes,", file.path, file.offset));
    const bool counts = !record.summary.failed() || file.offset >= file.failures_from;
    file.offset += line.size() + 1;
    const auto at = points_.find(record.id);
    if (!counts || at == points_.end() || at->second.done) continue;
    at->second.done = true;
    files_[at->second.part].left -= 1;
  }
}

}  // namespace nearwarp::cli
