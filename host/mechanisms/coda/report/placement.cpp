// Where a policy has put the program's memory objects, for people.
#include <fmt/format.h>

#include <algorithm>

#include "host/mechanisms/coda/report/sections.h"
#include "host/timing/report/columns.h"

namespace nearwarp::coda {

namespace {

using namespace report;

constexpr char kPlacementLegend[] =
    "Memory objects: pages spread over all stacks (fgp) or in one each (cgp); B, bytes from a "
    "thread block's part to the next one's (~: in the mean; code: by the kernel's code, else by "
    "traces; -: blocks do not move through it); chunk, consecutive bytes in a stack; local: share "
    "of the first kernel's accesses that are local if pages stay in stacks.";
constexpr char kUnitsLegend[] =
    "unit, consecutive bytes behind a near-bank unit; near: share of whole warps' accesses that "
    "are then behind the unit of the warp.";

std::string percent_of(uint64_t part, uint64_t all) {
  if (all == 0) return "-";
  return fmt::format("{:.1f}", 100 * static_cast<double>(part) / static_cast<double>(all));
}

/// Are some of them put behind near-bank units?
bool places_units(const RunResult& run) {
  return std::any_of(placed_of(run).begin(), placed_of(run).end(),
                     [](const PlacedObject& o) { return o.unit_bytes != 0; });
}

/// A table of the objects; empty if the policy places none.
std::string format_placement(const RunResult& run, size_t width) {
  if (placed_of(run).empty()) return "";
  std::vector<std::string> names;
  Column bytes{"bytes", {}}, pages{"pages", {}}, block{"B", {}}, chunk{"chunk", {}},
      local{"local %", {}}, unit{"unit", {}}, near{"near %", {}};
  for (const PlacedObject& o : placed_of(run)) {
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

Json placed_json(const RunResult& run) {
  Json objects = Json::array();
  for (const PlacedObject& o : placed_of(run))
    objects.push_back({{"name", o.name},
                       {"address", o.address},
                       {"bytes", o.bytes},
                       {"pages", o.localised ? "cgp" : "fgp"},
                       {"block_bytes", o.block_bytes},
                       {"constant", o.constant},
                       {"from_code", o.from_code},
                       {"chunk_bytes", o.chunk_bytes},
                       {"accesses", o.accesses},
                       {"local", o.local},
                       {"unit_bytes", o.unit_bytes},
                       {"warp_accesses", o.warp_accesses},
                       {"near_unit", o.near_unit}});
  return objects;
}

void add_members(const RunResult& run, Json& json) {
  if (!placed_of(run).empty()) json["placement"] = placed_json(run);
}

/// The objects' places, for an experiment's page.
void add_to_page(const Json& run, Json& sections) {
  if (!run.contains("placement")) return;
  Json rows = Json::array();
  for (const Json& o : run.at("placement")) {
    const auto name = o.at("name").get<std::string>();
    const auto accesses = o.at("accesses").get<uint64_t>();
    const bool regular = o.at("block_bytes").get<uint64_t>() != 0;
    Json local = "-";
    if (accesses != 0) local = 100 * o.at("local").get<double>() / static_cast<double>(accesses);
    rows.push_back({name.empty() ? "-" : name, o.at("bytes"),
                    o.at("pages") == "cgp" ? "in stacks" : "spread", o.at("block_bytes"),
                    !regular                        ? "-"
                    : o.at("from_code").get<bool>() ? "code"
                                                    : "traces",
                    accesses, local});
  }
  sections.push_back(
      {{"title", "Objects"},
       {"columns",
        {"object", "bytes", "pages", "B [bytes]", "from", "accesses", "local if placed [%]"}},
       {"rows", std::move(rows)}});
}

constexpr const char* kKept[] = {"placement"};

constexpr Legend kLegends[] = {
    {kPlacementLegend, [](const RunResult& r) { return !placed_of(r).empty(); }},
    {kUnitsLegend, places_units},
};

}  // namespace

const MechanismReport& report_sections() {
  static constexpr MechanismReport kReport = {.explanation = format_placement,
                                              .legends = kLegends,
                                              .members = add_members,
                                              .kept = kKept,
                                              .page = add_to_page};
  return kReport;
}

}  // namespace nearwarp::coda
