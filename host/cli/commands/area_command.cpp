// nearwarp area: the areas of a processor's parts on its dies, from a machine, a policy and
// estimates.
#include "host/api/nearwarp/parts.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/expected.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {
namespace {

CommandLine declare_area() {
  CommandLine line("area", "",
                   "What the parts of a processor below and among memory take of its dies,\n"
                   "from a machine, a policy and areas of single parts; nothing is simulated");
  line.value("machine", "name or file", "NAME", "mpu");
  line.value("policy", "name or file", "NAME", "mpu");
  line.value("areas", "areas of single parts: name or file", "NAME", "mpu-20nm");
  line.list("set", "override a key of any of the three", "KEY=VALUE");
  line.value("json", "also write the report to a file", "FILE");
  offer_usual(line);
  line.offer("areas", area_values);
  line.offer("set", area_key_values);
  return line;
}

int run_area(const CommandLine& line, const Words& /*application*/) {
  const AreaOptions options{.machine = line.text("machine"),
                            .policy = line.text("policy"),
                            .areas = line.text("areas"),
                            .changes = line.texts("set")};
  const std::string json = line.text("json");
  if (!json.empty()) report::check_writable(json);
  const AreaReport found = taken(estimate_area(options));
  if (!json.empty()) report::write_file(json, found.document);
  print(found.text);
  return 0;
}

}  // namespace

Command area_command() {
  return {.name = "area",
          .uses = {{"[OPTION...]", "what MPU's parts take of its dies"}},
          .declare = declare_area,
          .least = 0,
          .most = 0,
          .run = run_area};
}

}  // namespace nearwarp::cli
