// Fills a machine's caches as they are at a launch of a program.
#include "host/timing/run/warm.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/timing/run/warm_fill.h"
#include "host/timing/run/warm_uses.h"

namespace nearwarp::sim {
namespace {

/// A walk of several launches ends beyond this part of what it may be, if its second half has found
/// next to nothing, one in so many lines and pages, that its first had not: launches then go on
/// using the same.
constexpr uint64_t kRepeatsOf = 64, kFewOf = 100;
constexpr uint32_t kSeveral = 4;
/// A piece that is walked of a launch that has begun is one of so many parts of the longest walk.
constexpr uint64_t kPiecesOf = 32;

}  // namespace

uint32_t warm_caches(const runtime::Recording& recording, const ImageTables& image,
                     const Before& before, uint64_t most, System& system) {
  if (system.of_kind(kernels::ComponentKind::kL2Slice).empty()) return 0;
  Uses uses(recording, image, system);
  uint64_t blocks = 0;
  for (uint32_t i = 0; i < before.launch; ++i) blocks += recording.launches[i].blocks_recorded;
  std::vector<std::pair<uint64_t, uint64_t>> progress = {{0, 0}};  // walked, found
  size_t half = 0;  // where in it half of what has been walked had been
  // Is it worth while to walk so many more?
  const auto goes_on = [&](uint64_t instructions, bool several) {
    const auto [walked, found] = progress.back();
    if (uses.is_full() || (walked != 0 && walked + instructions > most)) return false;
    while (progress[half + 1 < progress.size() ? half + 1 : half].first < walked / 2) ++half;
    return !(several && walked > most / kRepeatsOf &&
             found - progress[half].second <= found / kFewOf);
  };
  const auto walk = [&](uint32_t launch, uint32_t begin, uint32_t end, uint64_t instructions) {
    uses.add_blocks(launch, begin, end, static_cast<uint32_t>(blocks % system.num_sms()));
    progress.emplace_back(progress.back().first + instructions, uses.found());
  };
  uint32_t at = before.launch;
  bool all = true;
  for (uint32_t end = before.block; end != 0 && all;) {
    const runtime::LaunchRecord& l = recording.launches[at];
    const uint64_t each = l.warp_instructions / l.blocks_recorded + 1;
    const auto piece = static_cast<uint32_t>(std::min<uint64_t>(end, most / kPiecesOf / each + 1));
    all = goes_on(piece * each, progress.size() > kSeveral);
    if (all) walk(at, end - piece, end, piece * each);
    end -= piece;
  }
  while (all && at > before.first) {
    const runtime::LaunchRecord& l = recording.launches[at - 1];
    if (!goes_on(l.warp_instructions, progress.size() > kSeveral)) break;
    blocks -= l.blocks_recorded;
    walk(--at, 0, static_cast<uint32_t>(l.blocks_recorded), l.warp_instructions);
  }
  uses.add_code(at);
  fill_caches(recording, before, uses, system);
  return before.launch - at;
}

}  // namespace nearwarp::sim
