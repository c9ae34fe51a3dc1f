// Offloading candidates and refusals of kernels as JSON.
#include "host/cli/analysis_json.h"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace nearwarp::cli {
namespace {

using Json = nlohmann::ordered_json;

Json source_json(const std::vector<compiler::SourceRange>& source) {
  Json list = Json::array();
  for (const compiler::SourceRange& s : source)
    list.push_back({{"file", s.file}, {"first", s.first}, {"last", s.last}});
  return list;
}

Json terms_json(const compiler::OffloadTerms& t) {
  return {{"registers_sent", t.reg_tx},
          {"registers_returned", t.reg_rx},
          {"loads", t.n_ld},
          {"stores", t.n_st},
          {"shared_bytes_sent", t.shared_tx},
          {"shared_bytes_returned", t.shared_rx}};
}

/// Addresses that the links transfer more; the reports' decimals are exact.
double addresses(const std::string& decimal) { return std::strtod(decimal.c_str(), nullptr); }

}  // namespace

Json analysis_json(const compiler::AnalysisReport& report) {
  Json json = {
      {"kernel", report.kernel}, {"candidates", Json::array()}, {"refusals", Json::array()}};
  for (const compiler::CandidateReport& c : report.candidates) {
    Json one = {{"id", c.id},
                {"kind", c.kind},
                {"blocks", c.blocks},
                {"source", source_json(c.source)},
                {"ptx_lines", {c.first_ptx_line, c.last_ptx_line}},
                {"live_ins", c.live_ins},
                {"live_outs", c.live_outs},
                {"live_in_bytes", c.live_in_bytes},
                {"live_out_bytes", c.live_out_bytes},
                {"trip", c.trip},
                {"iterations", c.iterations},
                {"terms", terms_json(c.terms)},
                {"per_iteration", terms_json(c.per_iteration)},
                {"tx_addresses", addresses(c.bw_tx)},
                {"rx_addresses", addresses(c.bw_rx)},
                {"saves_tx", c.saves_tx},
                {"saves_rx", c.saves_rx}};
    if (c.within) one["within"] = *c.within;
    if (!c.shared.empty()) one["shared"] = c.shared;
    if (!c.condition.empty()) one["condition"] = c.condition;
    json["candidates"].push_back(std::move(one));
  }
  for (const compiler::RefusalReport& r : report.refusals) {
    Json one = {{"kind", r.kind},
                {"block", r.block},
                {"source", source_json(r.source)},
                {"ptx_lines", {r.first_ptx_line, r.last_ptx_line}},
                {"reason", r.reason}};
    if (r.ptx_line != 0) one["ptx_line"] = r.ptx_line;
    if (!r.detail.empty()) one["detail"] = r.detail;
    json["refusals"].push_back(std::move(one));
  }
  return json;
}

}  // namespace nearwarp::cli
