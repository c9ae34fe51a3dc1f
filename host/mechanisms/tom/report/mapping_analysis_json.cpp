// The analysis of mappings as JSON for programs; the schema is documented in docs/json.md.
#include <nlohmann/json.hpp>

#include "host/core/json_as_text.h"
#include "host/mechanisms/tom/report/mapping_analysis.h"

namespace nearwarp::tom {

namespace {

using Json = nlohmann::ordered_json;

Json quality_json(const MappingQuality& q) {
  Json json = Json::object();
  if (q.first_bit != 0) json["first_bit"] = q.first_bit;
  json["at_destination"] = q.at_destination;
  json["one_stack"] = q.one_stack;
  json["stacks_touched"] = q.stacks;
  return json;
}

Json choices_json(const MappingAnalysis& a) {
  Json rows = Json::array();
  for (const MappingChoice& c : a.choices) {
    rows.push_back({{"permille", c.permille},
                    {"instances", c.instances},
                    {"first_bit", c.first_bit},
                    {"one_stack", c.one_stack},
                    {"at_destination", c.at_destination}});
  }
  return rows;
}

Json offsets_json(const CandidatePattern& c) {
  Json rows = Json::array();
  for (const OffsetRow& i : c.instructions) {
    Json row = {{"ptx_line", i.ptx_line},
                {"executions", i.executions},
                {"not_first", i.not_first},
                {"compared", i.compared},
                {"fixed", i.fixed}};
    if (i.compared != 0) row["predecessor_ptx_line"] = i.predecessor_ptx_line;
    rows.push_back(std::move(row));
  }
  return rows;
}

Json candidates_json(const MappingAnalysis& a) {
  Json rows = Json::array();
  for (const CandidatePattern& c : a.candidates) {
    Json row = {{"kernel", c.kernel},
                {"id", c.id},
                {"source_lines", c.source_lines},
                {"instances", c.instances}};
    if (c.instances != 0) {
      row["category"] = c.category;
      row["fixed_share"] = c.fixed_share;
    }
    row["instructions"] = offsets_json(c);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string mapping_analysis_json(const MappingAnalysis& a) {
  Json json;
  json["schema"] = kMappingSchema;
  json["nearwarp_version"] = a.version;
  json["workload"] = a.workload;
  json["size"] = a.size;
  json["machine"] = a.machine;
  json["policy"] = a.policy;
  json["overrides"] = a.overrides;
  json["warp_instructions"] = a.warp_instructions;
  json["launches"] = a.launches;
  json["stacks"] = a.stacks;
  json["line_bytes"] = a.line_bytes;
  json["instances"] = a.instances;
  json["accesses"] = a.accesses;
  json["baseline"] = quality_json(a.baseline);
  json["mappings"] = Json::array();
  for (const MappingQuality& q : a.mappings) json["mappings"].push_back(quality_json(q));
  if (a.instances != 0) json["best_first_bit"] = a.mappings.at(a.best).first_bit;
  json["choices"] = choices_json(a);
  json["candidates"] = candidates_json(a);
  json["categories"] = Json::array();
  for (const CategoryRow& c : a.categories) {
    json["categories"].push_back(
        {{"name", c.name}, {"candidates", c.candidates}, {"instances", c.instances}});
  }
  json["allocations"] = Json::array();
  for (const AllocationRow& r : a.allocations) {
    json["allocations"].push_back(
        {{"label", r.label}, {"address", r.address}, {"bytes", r.bytes}, {"touched", r.touched}});
  }
  return json_as_text(json, 2) + "\n";
}

}  // namespace nearwarp::tom
