// Profiles as JSON. The schema is documented in docs/profile.md.
#include <nlohmann/json.hpp>

#include "host/core/json_as_text.h"
#include "host/timing/report/profile.h"

namespace nearwarp::report {
namespace {

using Json = nlohmann::ordered_json;

Json device_json(const AccessCounts& c) {
  return {{"accesses", c.accesses},
          {"lanes", c.lanes},
          {"sectors", c.sectors},
          {"lines", c.lines},
          {"bytes", c.bytes}};
}

Json on_chip_json(const AccessCounts& c) { return {{"accesses", c.accesses}, {"lanes", c.lanes}}; }

/// Add the counts of a row. Kinds of access that did not happen are left out.
void add_counts(Json& row, const ProfileCounts& c) {
  row["warp_instructions"] = c.warp_instructions;
  row["thread_instructions"] = c.thread_instructions;
  if (c.loads.accesses != 0) row["global_loads"] = device_json(c.loads);
  if (c.stores.accesses != 0) row["global_stores"] = device_json(c.stores);
  if (c.atomics.accesses != 0) row["global_atomics"] = device_json(c.atomics);
  if (c.local.accesses != 0) row["local"] = device_json(c.local);
  if (c.shared.accesses != 0) row["shared"] = on_chip_json(c.shared);
  if (c.constant.accesses != 0) row["constant"] = on_chip_json(c.constant);
}

Json kernels_json(const Profile& p) {
  Json rows = Json::array();
  for (const ProfileKernel& k : p.kernels) {
    Json row = {{"kernel", k.name}, {"launches", k.launches}};
    add_counts(row, k.counts);
    rows.push_back(std::move(row));
  }
  return rows;
}

Json lines_json(const Profile& p) {
  Json rows = Json::array();
  for (const ProfileLine& l : p.lines) {
    Json row = {{"kernel", p.kernels[l.kernel].name}};
    if (l.line != 0) {
      row["file"] = l.file;
      row["line"] = l.line;
    } else if (l.ptx_line != 0) {
      row["ptx_line"] = l.ptx_line;
    } else {
      row["instruction"] = l.instruction;
    }
    add_counts(row, l.counts);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string profile_json(const std::vector<Profile>& profiles, const ProfileContext& context) {
  Json json;
  json["schema"] = kProfileSchema;
  json["nearwarp_version"] = context.version;
  json["machine"] = context.machine;
  json["overrides"] = context.overrides;
  json["sector_bytes"] = kSectorBytes;
  json["programs"] = Json::array();
  for (const Profile& p : profiles) {
    Json program = {{"workload", p.workload},
                    {"size", p.size},
                    {"line_bytes", p.line_bytes},
                    {"truncated", p.truncated},
                    {"launches", p.launches}};
    add_counts(program, p.all);
    program["kernels"] = kernels_json(p);
    program["source"] = lines_json(p);
    json["programs"].push_back(std::move(program));
  }
  return json_as_text(json, 2) + "\n";
}

}  // namespace nearwarp::report
