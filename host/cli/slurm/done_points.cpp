// Which points of which part are done, as the files of results say that other programs write.
#include "host/cli/slurm/done_points.h"

#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <utility>

#include "host/timing/sweep/format.h"

namespace nearwarp::cli {
namespace {

/// In place of a part.
constexpr uint32_t kDone = 0;

}  // namespace

DonePoints::DonePoints(const std::vector<const sweep::Plan*>& plans,
                       const sweep::ResultsFolder& folder, uint32_t parts, bool retry)
    : files_(parts + 1) {
  files_[0].path = folder.whole();
  // A single part's file is the whole's.
  for (uint32_t part = 1; part <= parts; ++part) files_[part].path = folder.part({part, parts});
  for (File& file : files_) file.failures_from = retry ? std::numeric_limits<uint64_t>::max() : 0;
  size_t all = 0;
  for (const sweep::Plan* plan : plans) all += plan->points.size();
  part_.assign(all, kDone);
  if (plans.size() == 1) {
    sweep_ = plans[0]->id;
    places_.emplace(*plans[0]);
    for (size_t i = 0; i < all; ++i) add(i, i);
    return;
  }
  size_t point = 0;
  for (const sweep::Plan* plan : plans)
    for (const sweep::Point& p : plan->points) {
      if (by_id_.try_emplace(p.id, point).second) add(point, p.index);
      point += 1;
    }
}

void DonePoints::add(size_t point, size_t index) {
  part_[point] = sweep::part_of(index, parts());
  files_[part_[point]].left += 1;
  points_ += 1;
}

std::optional<size_t> DonePoints::find(const sweep::Record& record) {
  if (places_.has_value()) {
    if (record.sweep != sweep_) return places_->of(record);
    return record.index < part_.size() ? std::optional<size_t>(record.index) : std::nullopt;
  }
  const auto at = by_id_.find(record.id);
  return at == by_id_.end() ? std::nullopt : std::optional(at->second);
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
    if (!counts) continue;
    const std::optional<size_t> point = find(record);
    if (!point.has_value() || part_[*point] == kDone) continue;
    files_[std::exchange(part_[*point], kDone)].left -= 1;
  }
}

}  // namespace nearwarp::cli
