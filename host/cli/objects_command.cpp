// nearwarp analyze --objects: where rules of placement put a workload's memory objects.
#include <fmt/format.h>

#include <csignal>

#include "host/cli/commands.h"
#include "host/cli/interrupt.h"
#include "host/cli/program_recording.h"
#include "host/cli/progress_bar.h"
#include "host/cli/terminal.h"
#include "host/cli/traced_workload.h"
#include "host/config/config.h"
#include "host/mechanisms/coda/object_places.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {

int analyze_objects_command(const CommandLine& line) {
  const workloads::Workload& workload = traced_workload(line.positional()[0], "objects");
  for (const char* option : {"kernel", "backend", "device"})
    if (line.given(option))
      throw UsageError(fmt::format("--{} does not go with --objects", option));
  const std::string size = line.text("size");
  workloads::parse_size(size);
  const Words changes = line.texts("set");
  const config::MachineConfig machine =
      config::load_machine(line.given("machine") ? line.text("machine") : "coda", changes);
  const config::PolicyConfig policy =
      config::load_policy(line.given("policy") ? line.text("policy") : "coda", changes);
  if (policy.mapping != "coda")
    throw UsageError(
        fmt::format("policy '{}' places no objects (policy.mapping = \"{}\") - take "
                    "one that does, such as coda",
                    policy.name, policy.mapping));
  const std::string json = line.text("json");
  if (!json.empty()) report::check_writable(json);
  catch_interrupts();
  const runtime::Recording recording = recording_of(workload, size, line.text("trace-cache"));
  coda::ObjectPlaces places;
  {
    ProgressBar bar("analyzing " + workload.name());
    places = coda::study_places({recording, machine, policy}, [&](uint64_t done, uint64_t total) {
      bar.update(done, total);
      return !interrupted();
    });
  }
  places.version = version();
  places.size = size;
  // The file is not lost because nobody reads the table.
  if (!json.empty()) {
    std::signal(SIGPIPE, SIG_IGN);
    report::write_file(json, coda::object_places_json(places));
  }
  print(coda::format_object_places(places, output_width()));
  return 0;
}

}  // namespace nearwarp::cli
