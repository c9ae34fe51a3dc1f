// Studies how many thread blocks and stacks share a program's pages (CODA, Figure 3, section 5.2).
#include "host/mechanisms/coda/sharing.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>
#include <vector>

#include "host/core/error.h"
#include "host/mechanisms/coda/accesses.h"
#include "host/mechanisms/coda/equations.h"
#include "host/mechanisms/coda/launches.h"
#include "host/mechanisms/coda/study_progress.h"

namespace nearwarp::coda {

namespace {

/// The thread blocks and stacks that touch a page.
struct Page {
  std::vector<uint32_t> blocks;  ///< consecutive touches by one block are noted once
  uint64_t stacks = 0;           ///< a set of stacks, as bits

  void note(uint32_t block, uint32_t stack) {
    stacks |= uint64_t{1} << stack;
    if (blocks.empty() || blocks.back() != block) blocks.push_back(block);
  }
  size_t count_blocks() {
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    return blocks.size();
  }
};

}  // namespace

PageSharing study_sharing(const runtime::Recording& recording, const config::MachineConfig& machine,
                          const std::function<bool(uint64_t, uint64_t)>& progress) {
  if (machine.stack.count == 0)
    throw Error(
        fmt::format("machine '{}' has no memory stacks (machine.shape = \"{}\") - pages are "
                    "shared between the stacks of machine 'coda', say",
                    machine.name, machine.shape));
  PageSharing out;
  out.workload = recording.name;
  out.machine = machine.name;
  out.page_bytes = machine.memory.page_bytes;
  out.stacks = machine.stack.count;
  const std::vector<uint64_t> per_stack = blocks_per_stack(recording, machine);
  // Programs that run together may have the same addresses: each has its own pages.
  std::map<uint32_t, std::unordered_map<uint64_t, Page>> by_application;
  StudyProgress studied(progress, recording.launches.size());
  const std::function<void()> pause = studied.pause();
  for (uint32_t i = 0; i < recording.launches.size(); ++i) {
    std::unordered_map<uint64_t, Page>& pages = by_application[recording.launches[i].application];
    uint64_t last = ~uint64_t{0};
    Page* page = nullptr;
    const auto note = [&](uint64_t block, uint64_t address) {
      if (address / out.page_bytes != last) {
        last = address / out.page_bytes;
        page = &pages[last];
      }
      page->note(static_cast<uint32_t>(block), affinity(block, per_stack[i], out.stacks));
    };
    each_access_of_launch(recording, i, note, pause);
    studied.done(i + 1);
  }
  for (auto& [application, pages] : by_application) {
    out.pages += pages.size();
    for (auto& [number, page] : pages) {
      out.by_blocks[page.count_blocks()] += 1;
      out.by_stacks[static_cast<uint32_t>(std::popcount(page.stacks))] += 1;
    }
  }
  return out;
}

}  // namespace nearwarp::coda
