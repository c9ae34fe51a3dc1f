// The jobs submitted for a folder of results: kept there, so that another command goes on.
#include "host/cli/slurm/record.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "host/core/error.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "nearwarp.slurm/1";

}  // namespace

std::set<std::string> SlurmRecord::jobs() const {
  std::set<std::string> all;
  for (const auto& [part, there] : submitted) all.insert(there.job);
  return all;
}

std::optional<SlurmRecord> load_record(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  try {
    const Json json = Json::parse(file);
    if (json.at("schema") != kSchema) throw Error("");
    SlurmRecord record;
    record.sweep = json.at("sweep").get<std::string>();
    record.parts = json.at("parts").get<uint32_t>();
    for (const Json& part : json.at("submitted")) {
      record.submitted[part.at("part").get<uint32_t>()] = {
          part.at("job").get<std::string>(), part.at("submissions").get<uint32_t>(),
          part.at("results_bytes").get<uint64_t>()};
    }
    return record;
  } catch (const std::exception&) {
    throw Error(
        fmt::format("'{}' does not say which jobs were submitted (schema {}) - see to it "
                    "with squeue that none runs, then remove it",
                    path, kSchema));
  }
}

void save_record(const SlurmRecord& record, const std::string& path) {
  Json json;
  json["schema"] = kSchema;
  json["sweep"] = record.sweep;
  json["parts"] = record.parts;
  json["submitted"] = Json::array();
  for (const auto& [part, there] : record.submitted) {
    Json entry;
    entry["part"] = part;
    entry["job"] = there.job;
    entry["submissions"] = there.submissions;
    entry["results_bytes"] = there.results_bytes;
    json["submitted"].push_back(std::move(entry));
  }
  report::write_file(path, json.dump(1) + "\n");
}

}  // namespace nearwarp::cli
