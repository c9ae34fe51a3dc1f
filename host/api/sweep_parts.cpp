// Keeps track of sweeps whose parts other processes run.
#include "host/api/sweep_parts.h"

#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <utility>

#include "host/api/inside.h"
#include "host/core/hash.h"
#include "host/timing/sweep/format.h"
#include "host/timing/sweep/places.h"
#include "host/timing/sweep/plan.h"
#include "host/timing/sweep/results_folder.h"
#include "host/timing/sweep/shared_points.h"

namespace nearwarp {
namespace {

/// Stands in part_ for points that are done.
constexpr uint32_t kDone = 0;

}  // namespace

SweepParts::SweepParts(const Sweep& sweep, const SweepOptions& how)
    : SweepParts({&plan_of(sweep)}, {how.out, "sweep"}, how.retry) {}

SweepParts::SweepParts(const Experiment& experiment, const SweepOptions& how)
    : SweepParts(plans_of(experiment), {how.out, "results"}, how.retry) {}

SweepParts::SweepParts(std::vector<const sweep::Plan*> plans, const sweep::ResultsFolder& folder,
                       bool retry)
    : plans_(std::move(plans)),
      folder_(std::make_unique<const sweep::ResultsFolder>(folder)),
      retry_(retry) {}

SweepParts::SweepParts(SweepParts&&) noexcept = default;
SweepParts::~SweepParts() = default;

std::string SweepParts::id() const {
  std::string ids;
  for (const sweep::Plan* plan : plans_) ids += plan->id;
  return content_hash(ids).hex();
}

std::filesystem::path SweepParts::folder() const { return folder_->folder; }

size_t SweepParts::planned() const {
  size_t points = 0;
  for (const sweep::Plan* plan : plans_) points += plan->points.size();
  return points;
}

void SweepParts::join() {
  std::vector<std::string> ids;
  for (const sweep::Plan* plan : plans_) ids.push_back(plan->id);
  join_parts(*folder_, ids);
}

void SweepParts::divide(uint32_t parts) {
  files_.assign(parts + 1, {});
  files_[0].path = folder_->whole();
  for (uint32_t part = 1; part <= parts; ++part) files_[part].path = folder_->part({part, parts});
  for (File& file : files_) file.failures_from = retry_ ? std::numeric_limits<uint64_t>::max() : 0;
  const size_t all = planned();
  part_.assign(all, kDone);
  points_ = 0;
  places_.clear();
  earlier_ = sweep::points_of_earlier(plans_);
  size_t point = 0;
  for (size_t k = 0; k < plans_.size(); ++k) {
    places_.emplace_back(*plans_[k]);
    for (size_t i = 0; i < plans_[k]->points.size(); ++i, ++point) {
      if (earlier_[k].contains(i)) continue;
      part_[point] = sweep::part_of(i, parts);
      files_[part_[point]].left += 1;
      points_ += 1;
    }
  }
}

std::optional<size_t> SweepParts::find(const sweep::Record& record) {
  size_t first = 0;  // index of the plan's first point
  for (size_t k = 0; k < plans_.size(); first += plans_[k]->points.size(), ++k)
    if (record.sweep == plans_[k]->id && record.index < plans_[k]->points.size() &&
        !earlier_[k].contains(record.index))
      return first + record.index;
  first = 0;
  for (size_t k = 0; k < plans_.size(); first += plans_[k]->points.size(), ++k) {
    if (record.sweep == plans_[k]->id) continue;
    const std::optional<size_t> at = places_[k].of(record);
    if (at.has_value() && !earlier_[k].contains(*at)) return first + *at;
  }
  return std::nullopt;
}

void SweepParts::look() {
  read_on(files_[0]);
  for (File& file : files_)
    if (file.left != 0) read_on(file);  // of files_[0], which was read above, it is 0
}

size_t SweepParts::left() const {
  size_t points = 0;
  for (const File& file : files_) points += file.left;
  return points;
}

void SweepParts::read_on(File& file) {
  // The file is opened anew each time, since it is then that a network file system asks its server.
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

}  // namespace nearwarp
