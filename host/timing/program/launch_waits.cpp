// Which launches of a program wait for which.
#include "host/timing/program/launch_waits.h"

#include <map>
#include <set>

namespace nearwarp::sim {

namespace {

using Launches = std::set<uint32_t>;  ///< indices into ImageTables::launches

/// The order of launches: for each of the recording, those of the image that must end before it.
class Order {
 public:
  explicit Order(const ImageTables& image) : image_(image) {}

  Launches next(const runtime::LaunchRecord& record) {
    Launches before;
    Launches& last = last_[record.application];
    if (record.after_all) {
      before = last;
    } else {
      for (const uint32_t i : record.after)
        before.insert(stands_for_[i].begin(), stands_for_[i].end());
    }
    const auto index = static_cast<uint32_t>(stands_for_.size());
    if (done_ < image_.recorded_launch.size() && image_.recorded_launch[done_] == index) {
      for (const uint32_t i : before) last.erase(i);
      last.insert(done_);
      stands_for_.push_back({done_++});
      return before;
    }
    // A launch that is not in the image ends with what it waits for.
    stands_for_.push_back(std::move(before));
    return {};
  }

 private:
  const ImageTables& image_;
  uint32_t done_ = 0;
  std::vector<Launches> stands_for_;   // by launch of the recording
  std::map<uint32_t, Launches> last_;  // by program: those for which no other waits yet
};

}  // namespace

void add_launch_waits(const runtime::Recording& recording, ImageTables& image) {
  Order order(image);
  std::vector<std::vector<uint32_t>> waiting(image.launches.size());
  uint32_t next = 0;
  for (uint32_t i = 0; i < recording.launches.size(); ++i) {
    const Launches before = order.next(recording.launches[i]);
    if (next == image.launches.size() || image.recorded_launch[next] != i) continue;
    image.launches[next].waits_for = static_cast<uint32_t>(before.size());
    for (const uint32_t b : before) waiting[b].push_back(next);
    next += 1;
  }
  for (size_t i = 0; i < waiting.size(); ++i) {
    image.launches[i].first_waiting = static_cast<uint32_t>(image.waiting.size());
    image.launches[i].num_waiting = static_cast<uint32_t>(waiting[i].size());
    image.waiting.insert(image.waiting.end(), waiting[i].begin(), waiting[i].end());
  }
}

}  // namespace nearwarp::sim
