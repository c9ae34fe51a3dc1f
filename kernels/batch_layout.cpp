// Which systems of a batch make a cohort, and which of their components have which seats.
#include "kernels/batch_layout.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace nearwarp::kernels {

namespace {

/// Systems of a cohort: two warps full of what a system has one of, such as a crossbar. More
/// fill lanes no better, fewer cohorts leave less to do while the longest step of a round goes on.
constexpr size_t kSystemsOfCohort = 64;

constexpr uint32_t kKinds = ProductFamily::kCount;

/// The components of some systems by kind.
class ByKind {
 public:
  explicit ByKind(std::span<const std::span<const Component>> systems) {
    for (const std::span<const Component> components : systems) {
      std::array<uint32_t, kKinds + 1> begin = {};
      for (const Component& c : components) begin[static_cast<uint32_t>(c.kind) + 1] += 1;
      for (uint32_t kind = 0; kind < kKinds; ++kind) {
        most_[kind] = std::max(most_[kind], begin[kind + 1]);
        begin[kind + 1] += begin[kind];
      }
      const size_t first = members_.size();
      members_.resize(first + components.size());
      std::array<uint32_t, kKinds + 1> at = begin;
      for (uint32_t i = 0; i < components.size(); ++i)
        members_[first + at[static_cast<uint32_t>(components[i].kind)]++] = i;
      first_.push_back(first);
      begin_.push_back(begin);
    }
  }
  /// The most components of a kind that any system has.
  uint32_t most(uint32_t kind) const { return most_[kind]; }
  /// Numbers of a system's components of a kind.
  std::span<const uint32_t> members(uint32_t system, uint32_t kind) const {
    const auto& begin = begin_[system];
    return std::span(members_).subspan(first_[system] + begin[kind], begin[kind + 1] - begin[kind]);
  }

 private:
  std::array<uint32_t, kKinds> most_ = {};
  std::vector<uint32_t> members_;  ///< system by system, by kind
  std::vector<size_t> first_;      ///< by system
  std::vector<std::array<uint32_t, kKinds + 1>> begin_;
};

/// Gives a system its domains. Returns those of its clusters, by the clusters' numbers.
std::vector<uint32_t> add_domains(BatchLayout& layout, std::span<const Component> components) {
  BatchSystem system;
  system.first_domain = static_cast<uint32_t>(layout.domains.size());
  layout.domains.emplace_back();
  std::vector<uint32_t> of_cluster{system.first_domain};  // 0: in none
  for (const Component& c : components) {
    if (c.cluster >= of_cluster.size()) of_cluster.resize(c.cluster + 1u, kNoDomain);
    if (of_cluster[c.cluster] != kNoDomain) continue;
    of_cluster[c.cluster] = static_cast<uint32_t>(layout.domains.size());
    layout.domains.emplace_back().length = c.cluster_window;
  }
  system.domains = static_cast<uint32_t>(layout.domains.size()) - system.first_domain;
  layout.more.push_back(system);
  return of_cluster;
}

}  // namespace

BatchLayout lay_out_batch(std::span<const std::span<const Component>> systems, uint32_t cohorts) {
  if (cohorts == 0 || cohorts > kMostCohorts || cohorts > systems.size())
    throw std::logic_error("a batch of an impossible number of cohorts");
  BatchLayout layout;
  std::vector<std::vector<uint32_t>> domain_of;  // by system and cluster
  for (const std::span<const Component> components : systems)
    domain_of.push_back(add_domains(layout, components));
  const auto add_seat = [&](uint32_t system, uint32_t component, uint32_t domain) {
    layout.system.push_back(system);
    layout.component.push_back(component);
    layout.domain.push_back(domain);
  };
  for (uint32_t n = 0; n < cohorts; ++n) {
    Cohort cohort;
    cohort.first_system = static_cast<uint32_t>(systems.size() * n / cohorts);
    cohort.systems =
        static_cast<uint32_t>(systems.size() * (n + 1) / cohorts) - cohort.first_system;
    const ByKind by_kind(systems.subspan(cohort.first_system, cohort.systems));
    for (uint32_t kind = 0; kind < kKinds; ++kind) {
      cohort.seat_of_kind[kind] = static_cast<uint32_t>(layout.system.size());
      for (uint32_t i = 0; i < by_kind.most(kind); ++i)
        for (uint32_t s = 0; s < cohort.systems; ++s) {
          const std::span<const uint32_t> members = by_kind.members(s, kind);
          if (i >= members.size()) continue;
          const uint32_t system = cohort.first_system + s;
          add_seat(system, members[i], domain_of[system][systems[system][members[i]].cluster]);
        }
      while (layout.system.size() % kRunOfSeats != 0) add_seat(0, 0, kNoDomain);
      layout.kind_of_run.resize(layout.system.size() / kRunOfSeats, kind);
    }
    cohort.seat_of_kind[kKinds] = static_cast<uint32_t>(layout.system.size());
    layout.cohorts.push_back(cohort);
  }
  return layout;
}

uint32_t cohorts_of(size_t systems) {
  return static_cast<uint32_t>(
      std::clamp<size_t>(systems / kSystemsOfCohort, 1, size_t{kMostCohorts}));
}

}  // namespace nearwarp::kernels
