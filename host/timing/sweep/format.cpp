// The format of a sweep's results: JSON lines, one point per line.
#include "host/timing/sweep/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "host/core/error_parts.h"
#include "host/core/hash.h"
#include "host/core/json_as_text.h"
#include "host/core/json_reason.h"
#include "host/timing/report/json.h"
#include "host/timing/report/launches.h"

namespace nearwarp::sweep {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kBeginning = "{\"schema\":\"nearwarp.sweep/2\"";
static_assert(kBeginning.find(kSweepSchema) != std::string_view::npos);

Json head(const Plan& plan, const Point& point) {
  const Definition& d = plan.definition;
  Json line;
  line["schema"] = kSweepSchema;  // first: see is_torn_line()
  line["id"] = point.id;
  line["sweep"] = plan.id;
  line["index"] = point.index;
  line["points"] = plan.points.size();
  line["nearwarp_version"] = d.version;
  line["workload"] = d.programs[point.program].name;
  line["size"] = d.programs[point.program].size;
  line["machine"] = plan.machine_name(point);
  line["policy"] = plan.policy_name(point);
  line["overrides"] = Json::object();
  for (size_t i = 0; i < d.axes.size(); ++i)
    line["overrides"][d.axes[i].key] = report::value_json(d.axes[i].values[point.choice[i]].toml);
  return line;
}

std::string line_text(const Json& line) { return json_as_text(line) + "\n"; }

/// The members of a line that are equal whenever the point is run.
Json comparable(const Json& line) {
  if (line.contains("error")) return Json{{"error", line.at("error")}};
  Json run = line.at("run");
  run.erase("host");
  run.erase("overrides");
  return run;
}

Summary summary_of(const Json& line) {
  Summary s;
  if (line.contains("error")) {
    s.error = line.at("error").get<std::string>();
    if (s.error.empty()) s.error = "unknown";
    return s;
  }
  const Json& run = line.at("run");
  s.partial = run.at("status") != "complete";
  s.cycles = run.at("cycles").get<uint64_t>();
  s.ipc = run.at("ipc").get<double>();
  s.offloaded_fraction = run.at("offloaded_fraction").get<double>();
  const Json& traffic = run.at("traffic");
  s.gpu_to_memory_bytes = traffic.at("gpu_to_memory_bytes").get<uint64_t>();
  s.memory_to_gpu_bytes = traffic.at("memory_to_gpu_bytes").get<uint64_t>();
  s.memory_to_memory_bytes = traffic.at("memory_to_memory_bytes").get<uint64_t>();
  const Json& used = run.at("bandwidth_used");
  s.gpu_to_memory_used = used.at("gpu_to_memory").get<double>();
  s.memory_to_gpu_used = used.at("memory_to_gpu").get<double>();
  if (run.contains("energy")) {
    const Json& energy = run.at("energy");
    EnergySummary e;
    e.total = energy.at("total_joules").get<double>();
    for (size_t i = 0; i < e.parts.size(); ++i)
      e.parts[i] = energy.at("parts")
                       .at(report::energy_part_name(static_cast<report::EnergyPart>(i)))
                       .get<double>();
    s.energy = e;
  }
  s.sms = report::sms_of(run);
  if (run.contains("launches")) s.sample = report::sample_of(run.at("launches"));
  if (run.contains("launches"))
    for (const Json& text : run.at("launches").at("approximated"))
      s.approximated += (s.approximated.empty() ? "" : "; ") + text.get<std::string>();
  if (const auto why = report::in_one_go_of(run)) s.in_one_go = report::in_one_go_text(*why);
  if (run.contains("mapping")) {
    const Json& instances = run.at("mapping").at("instances");
    if (instances.value("few", false)) s.few_instances = instances.at("seen").get<uint64_t>();
  }
  return s;
}

std::string title_of(const Record& record) {
  std::string title = record.workload;
  if (!record.size.empty()) title += fmt::format(" ({})", record.size);
  title += fmt::format(" on {} under {}", record.machine, record.policy);
  for (const Record::Override& o : record.overrides)
    title += fmt::format(", {}={}", o.key, o.value);
  return title;
}

}  // namespace

std::string line_value(const std::string& toml) { return json_as_text(report::value_json(toml)); }

std::string result_line(const Plan& plan, const Point& point, report::RunResult result) {
  const Program& program = plan.definition.programs[point.program];
  result.workload = program.name;
  result.size = program.size;
  result.overrides = plan.overrides(point);
  Json line = head(plan, point);
  line["status"] = result.partial ? "partial" : "complete";
  line["run"] = report::run_json(result);
  return line_text(line);
}

std::string failure_line(const Plan& plan, const Point& point, const std::string& error) {
  Json line = head(plan, point);
  line["status"] = "failed";
  line["error"] = error;
  return line_text(line);
}

Record read_line(std::string_view text, const std::string& where) {
  try {
    const Json line = Json::parse(text);
    if (line.at("schema") != kSweepSchema) {
      throw ErrorWithParts<>(
          parts_at(where, fmt::format("{} has schema {}", where, line.at("schema").dump()),
                   fmt::format("this program reads {}", kSweepSchema)));
    }
    Record record;
    record.id = line.at("id").get<std::string>();
    record.sweep = line.at("sweep").get<std::string>();
    record.index = line.at("index").get<uint64_t>();
    record.workload = line.at("workload").get<std::string>();
    record.size = line.at("size").get<std::string>();
    record.machine = line.at("machine").get<std::string>();
    record.policy = line.at("policy").get<std::string>();
    for (const auto& [key, value] : line.at("overrides").items())
      record.overrides.push_back({key, value.dump()});
    record.title = title_of(record);
    record.summary = summary_of(line);
    record.content = content_hash(comparable(line).dump());
    return record;
  } catch (const Json::exception& error) {
    throw ErrorWithParts<>(parts_at(
        where, fmt::format("{} is no line of a sweep's results: {}", where, json_reason(error)),
        "mend or remove it"));
  }
}

std::string difference(std::string_view line, std::string_view other) {
  const Json a = comparable(Json::parse(line)), b = comparable(Json::parse(other));
  for (const auto& [name, value] : a.items())
    if (!b.contains(name) || b.at(name) != value) return name;
  for (const auto& [name, value] : b.items())
    if (!a.contains(name)) return name;
  return "";
}

bool is_torn_line(std::string_view text) {
  const size_t n = std::min(text.size(), kBeginning.size());
  return text.substr(0, n) == kBeginning.substr(0, n);
}

}  // namespace nearwarp::sweep
