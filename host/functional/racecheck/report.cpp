// Findings as text and as JSON.
#include "host/functional/racecheck/report.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "host/core/error.h"
#include "host/core/json_as_text.h"

namespace nearwarp::racecheck {

namespace {

using Json = nlohmann::ordered_json;

std::string plural(uint64_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

std::string position(const uint32_t (&p)[3]) { return fmt::format("({},{},{})", p[0], p[1], p[2]); }

std::string access_text(const std::string& what, const Access& a) {
  std::string where =
      a.source.empty() ? a.ptx : a.source + (a.ptx.empty() ? "" : " (" + a.ptx + ")");
  if (!a.caller.empty()) where += ", called in " + a.caller;
  return fmt::format("  {} by thread {} of block {}\n    {}\n    {}\n", what, position(a.thread),
                     position(a.block), where, a.text);
}

std::string hazard_text(size_t number, const Hazard& h) {
  const std::string harmless =
      h.unchanged == h.count ? ", never with another value than there was" : "";
  return fmt::format("hazard {}: {} in {} memory, between {}, {}{}\n  kernel {}\n  at {}\n", number,
                     name_of(h.kind), h.shared ? "shared" : "device", name_of(h.distance),
                     plural(h.count, "time", "times"), harmless, h.kernel, h.place) +
         access_text("earlier: " + h.earlier.kind, h.earlier) +
         access_text("later:   " + h.later.kind, h.later) +
         (h.kind == HazardKind::kUnfenced
              ? "  right: fence.proxy.async by the writing thread, behind its write and before the "
                "barrier\n"
              : "");
}

std::string misuse_text(size_t number, const Misuse& m) {
  return fmt::format("misuse {}: {}, {}\n  kernel {}\n  {}\n", number, name_of(m.kind),
                     plural(m.count, "thread", "threads"), m.kernel, m.detail) +
         access_text(m.at.kind, m.at);
}

std::string unwritten_text(size_t number, const UnwrittenRead& r) {
  return fmt::format("unwritten {}: {} {} {} memory that nobody wrote, {}\n  kernel {}\n  at {}\n",
                     number, r.at.kind, r.at.kind == "read" ? "of" : "on",
                     r.shared ? "shared" : "device", plural(r.count, "time", "times"), r.kernel,
                     r.place) +
         access_text(r.at.kind, r.at);
}

/// The first `room` of `entries`, each as `text` has it; the room that is left.
template <class Entry>
std::string first_texts(const std::vector<Entry>& entries, size_t* room,
                        std::string (*text)(size_t, const Entry&)) {
  std::string all;
  for (size_t i = 0; i < entries.size() && *room != 0; ++i, --*room)
    all += text(i + 1, entries[i]) + "\n";
  return all;
}

Json access_json(const Access& a) {
  return {{"kind", a.kind}, {"instruction", a.text}, {"source", a.source}, {"caller", a.caller},
          {"ptx", a.ptx},   {"block", a.block},      {"thread", a.thread}};
}

Access access_of(const Json& json) {
  Access a;
  a.kind = json.at("kind");
  a.text = json.at("instruction");
  a.source = json.at("source");
  a.caller = json.at("caller");
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
  h.kind = named(json.at("kind").get<std::string>(),
                 {HazardKind::kReadAfterWrite, HazardKind::kWriteAfterRead,
                  HazardKind::kWriteAfterWrite, HazardKind::kUnfenced});
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

Misuse misuse_of(const Json& json) {
  Misuse m;
  m.kind = named(json.at("kind").get<std::string>(),
                 {MisuseKind::kApart, MisuseKind::kDifferent, MisuseKind::kPassedBy,
                  MisuseKind::kNotInMask, MisuseKind::kMissing, MisuseKind::kOutside,
                  MisuseKind::kNobodyThere, MisuseKind::kInProduct, MisuseKind::kNoFence});
  m.kernel = json.at("kernel");
  m.count = json.at("count");
  m.detail = json.at("detail");
  m.at = access_of(json.at("at"));
  return m;
}

UnwrittenRead unwritten_of(const Json& json) {
  UnwrittenRead r;
  r.shared = json.at("space") == "shared";
  r.kernel = json.at("kernel");
  r.count = json.at("count");
  r.address = json.at("address");
  r.place = json.at("place");
  r.at = access_of(json.at("at"));
  return r;
}

}  // namespace

std::string format_text(const Findings& f, size_t most) {
  std::string text;
  for (const std::string& error : f.errors) text += "error: " + error + "\n\n";
  size_t room = most;
  text += first_texts(in_order(f.hazards), &room, hazard_text);
  text += first_texts(f.misuses, &room, misuse_text);
  text += first_texts(f.unwritten, &room, unwritten_text);
  if (const size_t shown = most - room; shown < f.entries())
    text += fmt::format("... and {} more (`most`)\n\n", f.entries() - shown);
  std::string found =
      f.hazards.empty() ? "no hazards" : plural(f.hazards.size(), "hazard", "hazards");
  if (!f.misuses.empty()) found += ", " + plural(f.misuses.size(), "misuse", "misuses");
  if (!f.unwritten.empty())
    found += ", " + plural(f.unwritten.size(), "unwritten read", "unwritten reads");
  text += fmt::format("{}: {}, {} in {} of {}\n", f.program, found,
                      f.errors.empty() ? "no errors" : plural(f.errors.size(), "error", "errors"),
                      plural(f.launches, "launch", "launches"),
                      plural(f.accesses, "access of a warp", "accesses of warps"));
  if (f.same_value != 0)
    text += fmt::format(
        "{} wrote the value that an unordered write had left there: counted, not reported\n",
        plural(f.same_value, "access", "accesses"));
  if (f.left_out != 0)
    text += fmt::format("{} of further entries were left out\n",
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
  Json misuses = Json::array();
  for (const Misuse& m : f.misuses)
    misuses.push_back({{"kind", name_of(m.kind)},
                       {"kernel", m.kernel},
                       {"count", m.count},
                       {"detail", m.detail},
                       {"at", access_json(m.at)}});
  Json unwritten = Json::array();
  for (const UnwrittenRead& r : f.unwritten)
    unwritten.push_back({{"space", r.shared ? "shared" : "device"},
                         {"kernel", r.kernel},
                         {"count", r.count},
                         {"address", r.address},
                         {"place", r.place},
                         {"at", access_json(r.at)}});
  return {{"name", f.program},      {"launches", f.launches},
          {"accesses", f.accesses}, {"same_value_writes", f.same_value},
          {"left_out", f.left_out}, {"forgotten_pages", f.forgotten},
          {"errors", f.errors},     {"hazards", hazards},
          {"misuses", misuses},     {"unwritten_reads", unwritten}};
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
    for (const Json& misuse : json.at("misuses")) f.misuses.push_back(misuse_of(misuse));
    for (const Json& read : json.at("unwritten_reads")) f.unwritten.push_back(unwritten_of(read));
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
  return json_as_text(document, 2) + "\n";
}

}  // namespace nearwarp::racecheck
