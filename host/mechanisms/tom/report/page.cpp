// TOM's and tuned offloading's sections of an experiment's page.
#include <fmt/format.h>

#include "host/mechanisms/tom/report/sections.h"
#include "host/timing/report/columns.h"

namespace nearwarp::tom {
namespace {

using report::Json;

/// `part` of `whole` times `factor`; "-" of nothing.
Json ratio(const Json& part, uint64_t whole, double factor = 1) {
  if (whole == 0) return "-";
  return factor * part.get<double>() / static_cast<double>(whole);
}

/// The fates of candidate blocks' instances.
Json candidates_section(const Json& candidates) {
  Json rows = Json::array();
  for (const Json& c : candidates) {
    const auto of = [&](const char* name) { return c.at(name).get<uint64_t>(); };
    rows.push_back({Json{{"kernel", c.at("kernel")}}, c.at("source_lines"), c.at("instances"),
                    c.at("offloaded"), c.at("refused_condition"), c.at("refused_busy"),
                    c.at("refused_pending"), c.at("no_memory_access"), c.at("learning"),
                    ratio(c.at("local_lines"), of("local_lines") + of("remote_lines"), 100),
                    ratio(c.at("kept_cycles"), of("kept")),
                    ratio(c.at("offloaded_cycles"), of("returned"))});
  }
  return {{"title", "Candidate blocks"},
          {"columns",
           {"kernel", "lines", "instances", "offloaded", "kept: condition", "kept: busy",
            "kept: full", "no access", "while learning", "lines local [%]", "at home [cycles]",
            "offloaded [cycles]"}},
          {"rows", std::move(rows)}};
}

std::string mapping_text(const Json& m) {
  const Json& instances = m.at("instances");
  std::string text = "No mapping was applied, ";
  if (m.at("applied").get<bool>())
    text = fmt::format("Bits {}:{} choose the stack, ", m.at("bits")[0].get<uint64_t>(),
                       m.at("bits")[1].get<uint64_t>());
  text += fmt::format("{} from {} of {} instances{}", m.at("source").get<std::string>(),
                      report::grouped(instances.at("seen").get<uint64_t>()),
                      report::grouped(instances.at("total").get<uint64_t>()),
                      instances.value("few", false) ? ", which is luck" : "");
  const uint64_t resumed = m.value("resume_cycle", uint64_t{0});
  if (resumed != 0)
    text += fmt::format("; the program goes on in cycle {}", report::grouped(resumed));
  return text + ".";
}

Json mapping_section(const Json& m) {
  Json rows = Json::array();
  for (const Json& r : m.at("ranges")) {
    const auto name = r.at("name").get<std::string>();
    rows.push_back({name.empty() ? "-" : name, r.at("bytes"),
                    r.at("remapped").get<bool>() ? "the chosen one" : "baseline"});
  }
  return {{"title", "Data mapping"},
          {"text", mapping_text(m)},
          {"columns", {"allocation", "bytes", "mapping"}},
          {"rows", std::move(rows)}};
}

}  // namespace

void add_to_page(const Json& run, Json& sections) {
  if (run.contains("candidates") && !run.at("candidates").empty())
    sections.push_back(candidates_section(run.at("candidates")));
  if (run.contains("mapping")) sections.push_back(mapping_section(run.at("mapping")));
}

}  // namespace nearwarp::tom
