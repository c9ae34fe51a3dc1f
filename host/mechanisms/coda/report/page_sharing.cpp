// The study of how many thread blocks and stacks share a program's pages, as text and as JSON.
#include "host/mechanisms/coda/report/page_sharing.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "host/core/json_as_text.h"
#include "host/timing/report/columns.h"

namespace nearwarp::coda {

using namespace report;

namespace {

/// Numbers of pages in rows by powers of two: of 1 thread block, of 2, of 3 to 4, of 5 to 8, ...
std::vector<std::pair<std::string, uint64_t>> by_powers(const std::map<uint64_t, uint64_t>& by) {
  std::vector<std::pair<std::string, uint64_t>> rows;
  if (by.empty()) return rows;
  for (uint64_t last = 1, first = 1; first <= by.rbegin()->first; first = last + 1, last *= 2) {
    uint64_t pages = 0;
    for (auto at = by.lower_bound(first); at != by.end() && at->first <= last; ++at)
      pages += at->second;
    rows.emplace_back(first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last),
                      pages);
  }
  return rows;
}

}  // namespace

const char* PageSharing::category() const {
  if (of_one_block() > 0.9) return "block-exclusive";
  if (of_one_stack() > 0.9) return "core-exclusive";
  if (of_one_block() > 0.6) return "block-majority";
  if (of_one_stack() > 0.6) return "core-majority";
  return "sharing";
}

std::string format_page_sharing(const PageSharing& s, size_t width) {
  std::string text = fmt::format("{}, size {}, on machine {} ({} stacks, pages of {} bytes)\n",
                                 s.workload, s.size, s.machine, s.stacks, s.page_bytes);
  if (s.pages == 0) return text + "No kernel touches device memory.\n";
  text += fmt::format("{} pages are touched: {}\n\n", grouped(s.pages), s.category());
  std::vector<std::string> names;
  Column pages{"pages", {}}, share{"[%]", {}};
  const auto row = [&](const std::string& name, uint64_t n) {
    names.push_back(name);
    pages.cells.push_back(grouped(n));
    share.cells.push_back(percent(n, s.pages));
  };
  for (const auto& [name, n] : by_powers(s.by_blocks))
    row(name + (name == "1" ? " thread block" : " thread blocks"), n);
  for (const auto& [stacks, n] : s.by_stacks)
    row(fmt::format("{} {}", stacks, stacks == 1 ? "stack" : "stacks"), n);
  text += columns_text(names, {pages, share}, width);
  return text + "\n" +
         wrapped(
             "Pages by how many thread blocks touch them, and how many stacks, if thread blocks "
             "run where CODA's Eq. (1) has them. More than 90 % of one thread block: "
             "block-exclusive, of one stack: core-exclusive; more than 60 %: block-majority, "
             "core-majority; else sharing (CODA, section 5.2).",
             width);
}

std::string page_sharing_json(const PageSharing& s) {
  nlohmann::ordered_json json;
  json["schema"] = "nearwarp.sharing/1";
  json["nearwarp_version"] = s.version;
  json["workload"] = s.workload;
  json["size"] = s.size;
  json["machine"] = s.machine;
  json["page_bytes"] = s.page_bytes;
  json["stacks"] = s.stacks;
  json["pages"] = s.pages;
  json["category"] = s.category();
  json["by_thread_blocks"] = nlohmann::ordered_json::array();
  for (const auto& [blocks, pages] : s.by_blocks)
    json["by_thread_blocks"].push_back({{"thread_blocks", blocks}, {"pages", pages}});
  json["by_stacks"] = nlohmann::ordered_json::array();
  for (const auto& [stacks, pages] : s.by_stacks)
    json["by_stacks"].push_back({{"stacks", stacks}, {"pages", pages}});
  return json_as_text(json, 2) + "\n";
}

}  // namespace nearwarp::coda
