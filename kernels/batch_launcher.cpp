// Launches of batches, and the memory that they need beside the systems' arenas.
#include "kernels/batch_launcher.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace nearwarp::kernels {

namespace {

constexpr size_t kAlignment = 16;

/// Memory of the device that is laid out piece by piece: first those that the host fills.
class Pieces {
 public:
  explicit Pieces(std::byte* device) : device_(device) {}

  template <class T>
  T* add(const std::vector<T>& values) {
    T* const there = add<T>(values.size());
    filled_.resize(used_);
    std::memcpy(filled_.data() + (reinterpret_cast<std::byte*>(there) - device_), values.data(),
                values.size() * sizeof(T));
    return there;
  }
  /// Takes room that the host does not fill.
  template <class T>
  T* add(size_t count) {
    used_ = (used_ + kAlignment - 1) / kAlignment * kAlignment;
    auto* const there = reinterpret_cast<T*>(device_ + used_);
    used_ += count * sizeof(T);
    return there;
  }
  const std::vector<std::byte>& filled() const { return filled_; }
  size_t used() const { return used_; }

 private:
  std::byte* device_;
  size_t used_ = 0;
  std::vector<std::byte> filled_;
};

/// The most bytes that a batch of these systems needs.
size_t bytes_for(size_t systems, size_t components) {
  // Seats of each kind of each cohort fill up a run. No system has more domains than components,
  // and one.
  const size_t seats =
      components + size_t{kMostCohorts} * ProductFamily::kCount * (kRunOfSeats - 1);
  constexpr size_t kPieces = 16;
  const size_t domains = systems + components;
  return systems * (sizeof(TeamSystem) + sizeof(BatchSystem) + sizeof(uint64_t)) +
         seats * (6 * sizeof(uint32_t) + 2 * sizeof(Tick)) +
         domains * (sizeof(Domain) + sizeof(Tick)) +
         kMostCohorts * (sizeof(Cohort) + kBatchTasks * sizeof(uint64_t)) + kPieces * kAlignment;
}

}  // namespace

void BatchLauncher::reserve(size_t systems, size_t components) {
  const size_t needed = bytes_for(systems, components);
  if (needed > room_.bytes()) room_ = DeviceBuffer(*device_, std::max(needed, 2 * room_.bytes()));
}

LaunchReport BatchLauncher::run(std::span<BatchMember> members, const Slice& slice,
                                uint32_t cohorts) {
  std::vector<std::span<const Component>> components;
  size_t all = 0;
  std::vector<TeamSystem> systems(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    components.push_back(members[i].components);
    all += members[i].components.size();
    systems[i].run = members[i].run;
    systems[i].number = static_cast<uint32_t>(i);
  }
  reserve(members.size(), all);
  BatchLayout layout =
      lay_out_batch(components, cohorts == 0 ? cohorts_of(members.size()) : cohorts);
  for (size_t i = 0; i < members.size(); ++i) {
    const uint64_t begun = members[i].run.control.windows;
    layout.more[i].last_window = slice.windows < ~begun ? begun + slice.windows : ~uint64_t{0};
  }
  // Seats are to be taken in all cohorts.
  std::vector<uint64_t> tickets(size_t{kBatchTasks} * kMostCohorts);
  for (size_t n = 0; n < layout.cohorts.size(); ++n) {
    Cohort& cohort = layout.cohorts[n];
    const uint32_t seats = cohort.seat_of_kind[ProductFamily::kCount] - cohort.seat_of_kind[0];
    cohort.left = (seats + kSeatsOfPiece - 1) / kSeatsOfPiece;
    tickets[size_t{static_cast<uint32_t>(BatchTask::kSeat)} * kMostCohorts + n] =
        uint64_t{cohort.left} << 32;
  }

  Pieces pieces(room_.as<std::byte>());
  Batch batch;
  batch.nanoseconds = slice.nanoseconds;
  auto* const committed = pieces.add(std::vector<uint64_t>(members.size()));
  for (size_t i = 0; i < members.size(); ++i) systems[i].committed = committed + i;
  batch.systems = pieces.add(systems);
  batch.more = pieces.add(layout.more);
  batch.cohorts = pieces.add(layout.cohorts);
  batch.num_cohorts = static_cast<uint32_t>(layout.cohorts.size());
  batch.system = pieces.add(layout.system);
  batch.component = pieces.add(layout.component);
  batch.domain = pieces.add(layout.domain);
  batch.domains = pieces.add(layout.domains);
  batch.ends = pieces.add(std::vector<Tick>(layout.domains.size()));
  batch.tickets = pieces.add(tickets);
  batch.cohorts_left = pieces.add(std::vector<uint32_t>{batch.num_cohorts});
  const size_t seats = layout.system.size();
  batch.kind_of_run = pieces.add(layout.kind_of_run);
  batch.asleep = pieces.add(std::vector<uint32_t>(seats / kRunOfSeats));
  batch.wake = pieces.add<Tick>(seats);
  batch.arrivals = pieces.add<Tick>(seats);
  batch.list = pieces.add<uint32_t>(seats);
  if (pieces.used() > room_.bytes()) throw std::logic_error("a batch larger than its room");
  room_.upload(pieces.filled().data(), pieces.filled().size());

  const LaunchReport report = device_->run_batch(batch);

  // The counts of committed instructions lie first, then the table.
  std::vector<std::byte> left(reinterpret_cast<std::byte*>(batch.more) - room_.as<std::byte>());
  room_.download(left.data(), left.size());
  const auto offset = [&](const void* at) {
    return static_cast<const std::byte*>(at) - room_.as<std::byte>();
  };
  std::memcpy(systems.data(), left.data() + offset(batch.systems),
              systems.size() * sizeof(TeamSystem));
  for (size_t i = 0; i < members.size(); ++i) {
    members[i].run.control = systems[i].run.control;
    std::memcpy(&members[i].committed, left.data() + offset(committed + i), sizeof(uint64_t));
  }
  return report;
}

}  // namespace nearwarp::kernels
