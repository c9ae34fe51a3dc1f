// Which launches of a program wait for which.
#include "host/timing/program/launch_waits.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace nearwarp::sim {

namespace {

using Launches = std::vector<uint32_t>;  ///< indices into ImageTables::launches, ascending

/// The order of launches: for each of the recording, those of the image that must end before it.
class Order {
 public:
  explicit Order(const ImageTables& image) : image_(image) {}

  /// Launches that stand for the recording's next one, until this is called again; none if the
  /// image does not have it.
  const Launches& next(const runtime::LaunchRecord& record) {
    Launches& last = last_[record.application];
    before_.clear();
    if (record.after_all) {
      before_ = last;
    } else {
      for (const uint32_t i : record.after)
        before_.insert(before_.end(), stand_for(i).begin(), stand_for(i).end());
      std::sort(before_.begin(), before_.end());
      before_.erase(std::unique(before_.begin(), before_.end()), before_.end());
    }
    const auto index = static_cast<uint32_t>(ends_.size());
    if (done_ < image_.recorded_launch.size() && image_.recorded_launch[done_] == index) {
      std::erase_if(last, [&](uint32_t i) { return std::ranges::binary_search(before_, i); });
      last.push_back(done_);
      stand_for_.push_back(done_++);
    } else {
      // A launch that is not in the image ends with what it waits for.
      stand_for_.insert(stand_for_.end(), before_.begin(), before_.end());
      before_.clear();
    }
    ends_.push_back(stand_for_.size());
    return before_;
  }

 private:
  std::span<const uint32_t> stand_for(uint32_t launch) const {
    const size_t begin = launch == 0 ? 0 : ends_[launch - 1];
    return std::span(stand_for_).subspan(begin, ends_[launch] - begin);
  }

  const ImageTables& image_;
  uint32_t done_ = 0;
  Launches before_;
  // Launches of the image that stand for one of the recording, one launch's after the other's,
  // and where each one's end.
  std::vector<uint32_t> stand_for_;
  std::vector<size_t> ends_;
  std::map<uint32_t, Launches> last_;  // by program: those for which no other waits yet
};

}  // namespace

void add_launch_waits(const runtime::Recording& recording, ImageTables& image) {
  Order order(image);
  std::vector<std::pair<uint32_t, uint32_t>> waits;  // of the second one for the first
  uint32_t next = 0;
  for (uint32_t i = 0; i < recording.launches.size(); ++i) {
    const Launches& before = order.next(recording.launches[i]);
    if (next == image.launches.size() || image.recorded_launch[next] != i) continue;
    image.launches[next].waits_for = static_cast<uint32_t>(before.size());
    for (const uint32_t b : before) waits.emplace_back(b, next);
    next += 1;
  }
  std::sort(waits.begin(), waits.end());
  image.waiting.reserve(waits.size());
  auto at = waits.begin();
  for (uint32_t i = 0; i < image.launches.size(); ++i) {
    image.launches[i].first_waiting = static_cast<uint32_t>(image.waiting.size());
    for (; at != waits.end() && at->first == i; ++at) image.waiting.push_back(at->second);
    image.launches[i].num_waiting =
        static_cast<uint32_t>(image.waiting.size()) - image.launches[i].first_waiting;
  }
}

}  // namespace nearwarp::sim
