// CODA's host side: studies the objects, places their pages, says where they are.
#include "host/mechanisms/coda/mechanism.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "host/core/error.h"
#include "host/mechanisms/coda/equations.h"
#include "host/mechanisms/coda/first_touch.h"
#include "host/mechanisms/coda/launches.h"
#include "host/mechanisms/coda/memory.h"
#include "host/mechanisms/coda/placement.h"
#include "host/timing/machine/baseline_map.h"

namespace nearwarp::coda {

namespace {

ChunkRule chunk_rule(const std::string& name) {
  return name == "blocks" ? ChunkRule::kBlocks
         : name == "page" ? ChunkRule::kPage
                          : ChunkRule::kRounded;
}

StrideSource stride_source(const std::string& name) {
  return name == "both"   ? StrideSource::kBoth
         : name == "code" ? StrideSource::kCode
                          : StrideSource::kTraces;
}

class CodaRun final : public sim::MechanismRun {
 public:
  CodaRun(const sim::RunSubject& subject, const sim::ImageTables& image)
      : subject_(subject), memory_bytes_(image.memory_bytes) {
    rules_.stacks = subject.machine.stack.count;
    rules_.page_bytes = subject.machine.memory.page_bytes;
    rules_.chunk = chunk_rule(subject.policy.pages.chunk);
    rules_.source = stride_source(subject.policy.pages.strides);
    const uint32_t row = subject.policy.dispatch.row_blocks;
    rules_.blocks_per_stack = blocks_per_stack(subject.recording, subject.machine);
    if (row != 0) rules_.blocks_per_stack.assign(subject.recording.launches.size(), row);
    const bool cgp = subject.policy.mapping == "cgp";
    if (!cgp) uses_ = study_objects(subject.recording, rules_);
    placement_ = place_pages(subject.recording, uses_, rules_, cgp,
                             subject.policy.pages.local_percent, page_groups(subject));
  }

  void extend(sim::Graph& graph, const sim::Parts&) override {
    const uint32_t line = subject_.machine.l1.line_bytes;
    graph.address_spaces =
        std::max(static_cast<uint32_t>(placement_.pages.size()), graph.address_spaces);
    graph.more_maps = std::max(kCgpMap, graph.more_maps);
    graph.mapped_lines = std::max(graph.mapped_lines, (memory_bytes_ + line - 1) / line);
  }

  void attach(sim::System&) override {}

  void begin(sim::System& system) override {
    std::byte* base = system.arena.base();
    const uint32_t shift = system.page_tables.translation.page_shift;
    make_cgp_map(system);
    for (uint32_t space = 0; space < placement_.pages.size(); ++space) {
      const std::vector<PlacedPage>& pages = placement_.pages[space];
      for (uint32_t i = 0; i < pages.size(); ++i)
        system.page_tables.map_pages(base, space, i, 1, pages[i].frame << shift,
                                     pages[i].mode == PageMode::kCgp ? kCgpMap : 0);
    }
  }

  void collect(sim::System&, report::RunResult& result) override {
    const auto add = [&](const char* name, uint64_t value, const char* what) {
      result.counters.push_back({name, value, "pages", what});
    };
    add("pages.fgp", placement_.pages_fgp, "Pages of the program that are spread over all stacks");
    add("pages.cgp", placement_.pages_cgp, "Pages of the program that are in one stack each");
    add("pages.held", placement_.pages_held,
        "Physical pages of the page groups that they are in: no others may use these");
  }

  void report(sim::System&, report::RunResult& result) override {
    for (const ObjectUse& use : uses_) {
      const runtime::Allocation& a = subject_.recording.allocations[use.allocation];
      report::PlacedObject o;
      o.name = a.label;
      if (!subject_.recording.applications.empty())
        o.name = subject_.recording.applications[a.application] + ": " + o.name;
      o.address = a.address;
      o.bytes = a.bytes;
      o.localised = placement_.localised[use.allocation];
      o.block_bytes = use.block_bytes;
      o.constant = use.constant;
      o.from_code = use.from_code;
      o.accesses = use.accesses;
      o.local = use.local;
      if (o.localised)
        o.chunk_bytes = chunk_bytes(use.block_bytes, rules_.blocks_per_stack[use.launch],
                                    rules_.page_bytes, rules_.chunk);
      result.placed.push_back(std::move(o));
    }
  }

 private:
  sim::RunSubject subject_;
  uint64_t memory_bytes_;
  PlacementRules rules_;
  std::vector<ObjectUse> uses_;
  Placement placement_;
};

void require_machine(const sim::RunSubject& subject) {
  const config::MachineConfig& m = subject.machine;
  const auto refuse = [&](const std::string& what) {
    throw Error(fmt::format("policy '{}' on machine '{}': {}", subject.policy.name, m.name, what));
  };
  const bool host_runs = m.shape == "stacked";
  if (m.shape != "stacks" && !host_runs)
    refuse(
        fmt::format("it has no memory stacks (machine.shape = \"{}\") - pages in stacks need the "
                    "shape \"stacks\", or \"stacked\" for a processor in front of them",
                    m.shape));
  if (host_runs && subject.policy.mapping == "fta")
    refuse(
        "kernels run in front of the memory stacks - pages go to the stack whose SM touches them "
        "only where SMs lie in stacks (machine.shape = \"stacks\")");
  if (!std::has_single_bit(m.stack.count) || sim::machine_address_map(m).stacks != 0)
    refuse(
        "its stacks, vaults and L2 slices are no powers of two - groups of pages need them to "
        "be");
  // In front of the stacks, objects lie as they would for SMs in the stacks; thread blocks do not.
  if (host_runs && subject.policy.dispatch.groups != 1)
    refuse(
        fmt::format("dispatch.groups is {}, and kernels run in front of the memory stacks, where "
                    "thread blocks have no affinity - with dispatch.groups=1 it shows what pages "
                    "in stacks cost there",
                    subject.policy.dispatch.groups));
  if (!host_runs && subject.policy.mapping == "coda" &&
      subject.policy.dispatch.groups != m.stack.count)
    refuse(
        fmt::format("dispatch.groups is {} - objects lie where their thread blocks run only if "
                    "there is a group for each of the {} stacks",
                    subject.policy.dispatch.groups, m.stack.count));
}

}  // namespace

std::unique_ptr<sim::MechanismRun> CodaMechanism::prepare(const sim::RunSubject& subject, uint32_t,
                                                          sim::ImageTables& image) const {
  require_machine(subject);
  if (subject.policy.mapping == "fta") return prepare_first_touch(subject, image.memory_bytes);
  return std::make_unique<CodaRun>(subject, image);
}

}  // namespace nearwarp::coda
