// Where a policy has put the program's memory objects, for people.
#include "host/timing/report/placement.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/timing/report/columns.h"

namespace nearwarp::report {

namespace {

std::string percent_of(uint64_t part, uint64_t all) {
  if (all == 0) return "-";
  return fmt::format("{:.1f}", 100 * static_cast<double>(part) / static_cast<double>(all));
}

}  // namespace

std::string format_placement(const RunResult& run, size_t width) {
  if (run.placed.empty()) return "";
  std::vector<std::string> names;
  Column bytes{"bytes", {}}, pages{"pages", {}}, block{"B", {}}, chunk{"chunk", {}},
      local{"local %", {}}, unit{"unit", {}}, near{"near %", {}};
  for (const PlacedObject& o : run.placed) {
    names.push_back(o.name.empty() ? fmt::format("{:#x}", o.address) : o.name);
    bytes.cells.push_back(grouped(o.bytes));
    pages.cells.push_back(o.localised ? "cgp" : "fgp");
    block.cells.push_back(o.block_bytes == 0 ? "-"
                                             : (o.constant ? "" : "~") + grouped(o.block_bytes) +
                                                   (o.from_code ? " code" : ""));
    chunk.cells.push_back(o.localised ? grouped(o.chunk_bytes) : "-");
    local.cells.push_back(percent_of(o.local, o.accesses));
    unit.cells.push_back(o.unit_bytes == 0 ? "-" : grouped(o.unit_bytes));
    near.cells.push_back(percent_of(o.near_unit, o.warp_accesses));
  }
  std::vector<Column> columns{bytes, pages, block, chunk, local};
  std::string what = fmt::format(
      "Memory objects under {}: pages spread over all stacks (fgp) or in one each (cgp); B, bytes "
      "from a thread block's part to the next one's (~: in the mean; code: by the kernel's code, "
      "else by traces; -: blocks do not move through it); chunk, consecutive bytes in a stack; "
      "local: share of the first kernel's accesses that are local if pages stay in stacks",
      run.policy);
  const bool units = std::any_of(run.placed.begin(), run.placed.end(),
                                 [](const PlacedObject& o) { return o.unit_bytes != 0; });
  if (units) {
    columns.insert(columns.end(), {unit, near});
    what +=
        "; unit, consecutive bytes behind a near-bank unit; near: share of whole warps' accesses "
        "that are then behind the unit of the warp";
  }
  return wrapped(what + ".", width) + "\n" + columns_text(names, columns, width);
}

}  // namespace nearwarp::report
