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
  if (places_units(run)) columns.insert(columns.end(), {unit, near});
  return fmt::format("Memory objects under {}:\n\n", run.policy) +
         columns_text(names, columns, width);
}

bool places_units(const RunResult& run) {
  return std::any_of(run.placed.begin(), run.placed.end(),
                     [](const PlacedObject& o) { return o.unit_bytes != 0; });
}

}  // namespace nearwarp::report
