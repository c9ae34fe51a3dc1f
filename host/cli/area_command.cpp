// nearwarp area: what a processor's parts take of its dies, from a machine, a policy and estimates.
#include "host/cli/commands.h"
#include "host/config/area.h"
#include "host/config/config.h"
#include "host/mechanisms/mpu/area/area.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {

int area_command(const Words& words) {
  CommandLine line("area", "",
                   "What the parts of a processor below and among memory take of its dies,\n"
                   "from a machine, a policy and areas of single parts; nothing is simulated");
  line.value("machine", "name or file", "NAME", "mpu");
  line.value("policy", "name or file", "NAME", "mpu");
  line.value("areas", "areas of single parts: name or file", "NAME", "mpu-20nm");
  line.list("set", "override a key of any of the three", "KEY=VALUE");
  line.value("json", "also write the report to a file", "FILE");
  line.parse(words, 0, 0);
  if (line.help_wanted()) {
    print(line.help());
    return 0;
  }
  Words own, others;
  for (const std::string& change : line.texts("set"))
    (change.starts_with("area.") ? own : others).push_back(change);
  const config::AreaConfig area = config::load_area(line.text("areas"), own);
  const config::MachineConfig machine = config::load_machine(line.text("machine"), others);
  const config::PolicyConfig policy = config::load_policy(line.text("policy"), others);
  const std::string json = line.text("json");
  if (!json.empty()) report::check_writable(json);
  const mpu::AreaReport report = mpu::area_of(machine, policy, area);
  if (!json.empty()) report::write_file(json, mpu::area_json(report, machine, policy, area));
  print(mpu::area_text(report));
  return 0;
}

}  // namespace nearwarp::cli
