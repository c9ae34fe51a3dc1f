// Offloading candidates and refusals as a document (nearwarp.analysis/1, docs/json.md).
#include "host/api/code_json.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/core/json_as_text.h"

namespace nearwarp {
namespace {

using Json = nlohmann::ordered_json;

Json source_json(const std::vector<SourceLines>& source) {
  Json list = Json::array();
  for (const SourceLines& s : source)
    list.push_back({{"file", s.file}, {"first", s.first}, {"last", s.last}});
  return list;
}

Json traffic_json(const OffloadTraffic& t) {
  return {{"registers_sent", t.registers_sent},
          {"registers_returned", t.registers_returned},
          {"loads", t.loads},
          {"stores", t.stores},
          {"shared_bytes_sent", t.shared_bytes_sent},
          {"shared_bytes_returned", t.shared_bytes_returned}};
}

Json kernel_json(const CodeOfKernel& report) {
  if (!report.unsupported.empty())
    return {{"kernel", report.kernel}, {"unsupported", report.unsupported}};
  Json json = {
      {"kernel", report.kernel}, {"candidates", Json::array()}, {"refusals", Json::array()}};
  for (const CodeCandidate& c : report.candidates) {
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
                {"terms", traffic_json(c.traffic)},
                {"per_iteration", traffic_json(c.per_iteration)},
                {"tx_addresses", c.tx_addresses},
                {"rx_addresses", c.rx_addresses},
                {"saves_tx", c.saves_tx},
                {"saves_rx", c.saves_rx}};
    if (c.within) one["within"] = *c.within;
    if (!c.shared.empty()) one["shared"] = c.shared;
    if (!c.condition.empty()) one["condition"] = c.condition;
    json["candidates"].push_back(std::move(one));
  }
  for (const CodeRefusal& r : report.refusals) {
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

}  // namespace

std::string code_document(const CodeAnalysis& analysis) {
  Json document = {{"schema", "nearwarp.analysis/1"}, {"nearwarp_version", version()},
                   {"program", analysis.program},     {"machine", analysis.machine},
                   {"policy", analysis.policy},       {"kernels", Json::array()}};
  for (const CodeOfKernel& kernel : analysis.kernels)
    document["kernels"].push_back(kernel_json(kernel));
  return json_as_text(document, 1) + "\n";
}

}  // namespace nearwarp
