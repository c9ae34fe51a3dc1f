// Finds the launches that each launch waits for.
#include "host/recording/launch_order.h"

#include <utility>

namespace nearwarp::runtime {

using Kind = LaunchStream::Kind;

LaunchSet LaunchOrder::before(const LaunchStream& stream) const {
  LaunchSet set = host_;
  set.join(stream.before);
  if (stream.kind == Kind::kLegacy) set.join(blocking_);
  if (stream.kind == Kind::kBlocking) set.join(legacy_);
  return set;
}

LaunchOrder::Work::Work(LaunchOrder& order, std::shared_ptr<LaunchStream> stream)
    : order_(order),
      stream_(std::move(stream)),
      outer_(std::exchange(order.now_, order.before(*stream_))),
      outer_number_(std::exchange(order.number_, stream_->number)) {}

LaunchOrder::Work::~Work() {
  stream_->before = std::exchange(order_.now_, std::move(outer_));
  order_.number_ = outer_number_;
  if (stream_->kind == Kind::kNonBlocking) return;
  order_.blocking_.join(stream_->before);
  if (stream_->kind == Kind::kLegacy) order_.legacy_ = stream_->before;
}

void LaunchOrder::launched(LaunchRecord& launch) {
  history_.add(now_, launch);
  launch.stream = number_;
}

}  // namespace nearwarp::runtime
