// Which systems of a batch make a cohort, and which of their components have which seats.
#include "kernels/batch_layout.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace nearwarp::kernels {

namespace {

/// Of a cohort: two warps full of what a system has one of, such as a crossbar. More of them fill
/// lanes no better, fewer cohorts leave less to do while the longest step of a round goes on.
constexpr size_t kSystemsOfCohort = 64;

/// Gives a system its domains. Returns each component's, as a number among the batch's.
std::vector<uint32_t> add_domains(BatchLayout& layout, std::span<const Component> components) {
  BatchSystem system;
  system.first_domain = static_cast<uint32_t>(layout.domains.size());
  layout.domains.emplace_back();
  std::unordered_map<uint16_t, uint32_t> of_cluster;
  std::vector<uint32_t> of_component;
  for (const Component& c : components) {
    const auto next = static_cast<uint32_t>(layout.domains.size());
    const uint32_t domain = c.cluster == 0 ? system.first_domain
                                           : of_cluster.try_emplace(c.cluster, next).first->second;
    if (domain == next) layout.domains.emplace_back().length = c.cluster_window;
    of_component.push_back(domain);
  }
  system.domains = static_cast<uint32_t>(layout.domains.size()) - system.first_domain;
  layout.more.push_back(system);
  return of_component;
}

}  // namespace

BatchLayout lay_out_batch(std::span<const std::span<const Component>> systems, uint32_t cohorts) {
  if (cohorts == 0 || cohorts > kMostCohorts || cohorts > systems.size())
    throw std::logic_error("a batch of an impossible number of cohorts");
  BatchLayout layout;
  std::vector<std::vector<uint32_t>> domain_of;  // by system and component
  for (const std::span<const Component> components : systems)
    domain_of.push_back(add_domains(layout, components));
  for (uint32_t n = 0; n < cohorts; ++n) {
    Cohort cohort;
    cohort.first_system = static_cast<uint32_t>(systems.size() * n / cohorts);
    cohort.systems =
        static_cast<uint32_t>(systems.size() * (n + 1) / cohorts) - cohort.first_system;
    // By kind and system, the numbers of its components.
    std::vector<std::vector<uint32_t>> members[ProductFamily::kCount];
    for (std::vector<std::vector<uint32_t>>& of_kind : members) of_kind.resize(cohort.systems);
    for (uint32_t s = 0; s < cohort.systems; ++s) {
      const std::span<const Component> components = systems[cohort.first_system + s];
      for (uint32_t i = 0; i < components.size(); ++i)
        members[static_cast<uint32_t>(components[i].kind)][s].push_back(i);
    }
    for (uint32_t kind = 0; kind < ProductFamily::kCount; ++kind) {
      cohort.seat_of_kind[kind] = static_cast<uint32_t>(layout.system.size());
      size_t most = 0;
      for (const std::vector<uint32_t>& own : members[kind]) most = std::max(most, own.size());
      for (size_t i = 0; i < most; ++i)
        for (uint32_t s = 0; s < cohort.systems; ++s) {
          if (i >= members[kind][s].size()) continue;
          const uint32_t component = members[kind][s][i];
          layout.system.push_back(cohort.first_system + s);
          layout.component.push_back(component);
          layout.domain.push_back(domain_of[cohort.first_system + s][component]);
        }
      while (layout.system.size() % kRunOfSeats != 0) {
        layout.system.push_back(0);
        layout.component.push_back(0);
        layout.domain.push_back(kNoDomain);
      }
    }
    cohort.seat_of_kind[ProductFamily::kCount] = static_cast<uint32_t>(layout.system.size());
    layout.cohorts.push_back(cohort);
  }
  return layout;
}

uint32_t cohorts_of(size_t systems) {
  return static_cast<uint32_t>(
      std::clamp<size_t>(systems / kSystemsOfCohort, 1, size_t{kMostCohorts}));
}

}  // namespace nearwarp::kernels
