// Findings as text and as JSON.
#include "host/functional/racecheck/report.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "host/core/error.h"

namespace nearwarp::racecheck {

namespace {

using Json = nlohmann::ordered_json;

std::string plural(uint64_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

std::string position(const uint32_t (&p)[3]) { return fmt::format("({},{},{})", p[0], p[1], p[2]); }

std::string access_text(const char* when, const Access& a) {
  const std::string where =
      a.source.empty() ? a.ptx : a.source + (a.ptx.empty() ? "" : " (" + a.ptx + ")");
  return fmt::format("  {} {} by thread {} of block {}\n    {}\n    {}\n", when, a.kind,
                     position(a.thread), position(a.block), where, a.text);
}

std::string hazard_text(size_t number, const Hazard& h) {
  const std::string harmless =
      h.unchanged == h.count ? ", never with another value than there was" : "";
  return fmt::format("hazard {}: {} in {} memory, between {}, {}{}\n  kernel {}\n  at {}\n", number,
                     name_of(h.kind), h.shared ? "shared" : "device", name_of(h.distance),
                     plural(h.count, "time", "times"), harmless, h.kernel, h.place) +
         access_text("earlier:", h.earlier) + access_text("later:  ", h.later);
}

Json access_json(const Access& a) {
  return {{"kind", a.kind}, {"instruction", a.text}, {"source", a.source},
          {"ptx", a.ptx},   {"block", a.block},      {"thread", a.thread}};
}

Access access_of(const Json& json) {
  Access a;
  a.kind = json.at("kind");
  a.text = json.at("instruction");
  a.source = json.at("source");
  a.ptx = json.at("ptx");
  for (size_t i = 0; i < 3; ++i) {
    a.block[i] = json.at("block").at(i);
    a.thread[i] = json.at("thread").at(i);
  }
  return a;
}

template <class E>
E named(const std::string& name, std::initializer_list<E> all) {
  for (const E e : all)
    if (name == name_of(e)) return e;
  throw Error(fmt::format("'{}' is not known to this version", name));
}

Hazard hazard_of(const Json& json) {
  Hazard h;
  h.kind = named(
      json.at("kind").get<std::string>(),
      {HazardKind::kReadAfterWrite, HazardKind::kWriteAfterRead, HazardKind::kWriteAfterWrite});
  h.distance = named(json.at("between").get<std::string>(),
                     {Distance::kLanes, Distance::kWarps, Distance::kBlocks});
  h.shared = json.at("space") == "shared";
  h.kernel = json.at("kernel");
  h.count = json.at("count");
  h.unchanged = json.at("unchanged");
  h.address = json.at("address");
  h.place = json.at("place");
  h.earlier = access_of(json.at("earlier"));
  h.later = access_of(json.at("later"));
  return h;
}

}  // namespace

std::string format_text(const Findings& f, size_t most) {
  std::string text;
  for (const std::string& error : f.errors) text += "error: " + error + "\n\n";
  const size_t shown = std::min(most, f.hazards.size());
  const std::vector<Hazard> hazards = in_order(f.hazards);
  for (size_t i = 0; i < shown; ++i) text += hazard_text(i + 1, hazards[i]) + "\n";
  if (shown < f.hazards.size())
    text += fmt::format("... and {} more (--max-reports)\n\n", f.hazards.size() - shown);
  text +=
      fmt::format("{}: {}, {} in {} of {}\n", f.program,
                  f.hazards.empty() ? "no hazards" : plural(f.hazards.size(), "hazard", "hazards"),
                  f.errors.empty() ? "no errors" : plural(f.errors.size(), "error", "errors"),
                  plural(f.launches, "launch", "launches"),
                  plural(f.accesses, "access of a warp", "accesses of warps"));
  if (f.same_value != 0)
    text += fmt::format(
        "{} wrote the value that an unordered write had left there: counted, not reported\n",
        plural(f.same_value, "access", "accesses"));
  if (f.left_out != 0)
    text += fmt::format("{} of further pairs of instructions were left out\n",
                        plural(f.left_out, "occurrence", "occurrences"));
  if (f.forgotten != 0)
    text +=
        fmt::format("{} of shadow memory had to be forgotten, so hazards may have been missed\n",
                    plural(f.forgotten, "page", "pages"));
  return text;
}

Json to_json(const Findings& f) {
  Json hazards = Json::array();
  for (const Hazard& h : in_order(f.hazards))
    hazards.push_back({{"kind", name_of(h.kind)},
                       {"space", h.shared ? "shared" : "device"},
                       {"between", name_of(h.distance)},
                       {"kernel", h.kernel},
                       {"count", h.count},
                       {"unchanged", h.unchanged},
                       {"address", h.address},
                       {"place", h.place},
                       {"earlier", access_json(h.earlier)},
                       {"later", access_json(h.later)}});
  return {{"name", f.program},      {"launches", f.launches},
          {"accesses", f.accesses}, {"same_value_writes", f.same_value},
          {"left_out", f.left_out}, {"forgotten_pages", f.forgotten},
          {"errors", f.errors},     {"hazards", hazards}};
}

Findings from_json(const Json& json) {
  try {
    Findings f;
    f.program = json.at("name");
    f.launches = json.at("launches");
    f.accesses = json.at("accesses");
    f.same_value = json.at("same_value_writes");
    f.left_out = json.at("left_out");
    f.forgotten = json.at("forgotten_pages");
    f.errors = json.at("errors").get<std::vector<std::string>>();
    for (const Json& hazard : json.at("hazards")) f.hazards.push_back(hazard_of(hazard));
    return f;
  } catch (const Json::exception&) {
    throw Error("these are no findings of a check, or those of another version of this program");
  }
}

Findings load_findings(const std::string& path) {
  std::ifstream file(path);
  const Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded())
    throw Error(fmt::format("what was found cannot be read from {} - is the disk full?", path));
  return from_json(json);
}

std::string format_json(std::span<const Findings> programs, const std::string& version) {
  Json all = Json::array();
  for (const Findings& f : programs) all.push_back(to_json(f));
  const Json document = {{"schema", kCheckSchema}, {"nearwarp", version}, {"programs", all}};
  return document.dump(2) + "\n";
}

}  // namespace nearwarp::racecheck
