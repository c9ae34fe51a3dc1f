// The section of reports on where MPU's split pipeline executed instructions and found data.
#include <fmt/format.h>

#include <array>

#include "host/timing/report/columns.h"
#include "host/timing/report/section.h"

namespace nearwarp::mpu {
namespace {

using namespace report;

struct Row {
  const char* text;
  const char* name;
};
constexpr std::array kInstructions = {
    Row{"near-bank units", "mpu.near"},
    Row{"near-bank shared memory", "mpu.shared"},
    Row{"subcores, by hint or table", "mpu.far"},
    Row{"subcores, by opcode", "mpu.fixed"},
};
constexpr std::array kAccesses = {
    Row{"loads offloaded", "mpu.loads_near"},
    Row{"stores offloaded", "mpu.stores_near"},
    Row{"kept: not all lanes", "mpu.inactive"},
    Row{"kept: not one run of bytes", "mpu.scattered"},
    Row{"kept: data of another core", "mpu.remote"},
    Row{"kept: of another near-bank unit", "mpu.other_unit"},
};

template <size_t n>
std::string shares(const RunResult& run, const char* head, const std::array<Row, n>& rows,
                   size_t width) {
  uint64_t all = 0;
  for (const Row& row : rows) all += counter_value(run, row.name);
  std::vector<std::string> names;
  Column count{head, {}}, share{"%", {}};
  for (const Row& row : rows) {
    const uint64_t of = counter_value(run, row.name);
    names.emplace_back(row.text);
    count.cells.push_back(grouped(of));
    share.cells.push_back(
        all == 0 ? "-"
                 : fmt::format("{:.1f}", 100 * static_cast<double>(of) / static_cast<double>(all)));
  }
  return columns_text(names, {count, share}, width);
}

std::string near_instructions(const RunResult& run) {
  const uint64_t commits = counter_value(run, "mpu.near") + counter_value(run, "mpu.shared");
  if (commits == 0) return " None was near the banks.";
  const auto each = [&](const char* name) { return mean(counter_value(run, name), commits); };
  return fmt::format(
      " From issue to commit a near-bank instruction took {} core cycles in the mean: {} up the "
      "TSVs, {} for an operand collector, {} for the ALU, {} executing, {} until its commit was "
      "down.",
      each("mpu.near_cycles"), each("mpu.near_tsv_cycles"), each("mpu.near_collector_cycles"),
      each("mpu.near_alu_cycles"), each("mpu.near_execution_cycles"),
      each("mpu.near_commit_cycles"));
}

std::string near_loads(const RunResult& run) {
  const uint64_t loads = counter_value(run, "mpu.loads_near");
  if (loads == 0) return " No load was offloaded.";
  return fmt::format(
      " An offloaded load took {} core cycles, a line of it {} at its banks.",
      mean(counter_value(run, "mpu.load_cycles"), loads),
      mean(counter_value(run, "mpu.bank_cycles"), counter_value(run, "mpu.bank_reads")));
}

std::string moves(const RunResult& run) {
  const uint64_t near = counter_value(run, "mpu.moves_near");
  const uint64_t far = counter_value(run, "mpu.moves_far");
  std::string text = fmt::format(
      " {} registers moved to near-bank register files and {} to those of subcores; {} were "
      "written near the banks by loads that were kept.",
      grouped(near), grouped(far), grouped(counter_value(run, "mpu.loaded_to_near")));
  if (near + far != 0)
    text += fmt::format(
        " For each move a warp waited {} core cycles in the mean, and {} for its value before.",
        mean(counter_value(run, "mpu.held_move"), near + far),
        mean(counter_value(run, "mpu.held_value"), near + far));
  return text;
}

std::string format_places(const RunResult& run, size_t width) {
  if (counter_value(run, "mpu.code_fixed") == 0) return "";
  const std::string text = fmt::format("Where instructions were executed under {}.", run.policy) +
                           near_instructions(run) + near_loads(run) + moves(run);
  return wrapped(text, width) + "\n" + shares(run, "instructions", kInstructions, width) + "\n" +
         shares(run, "accesses", kAccesses, width);
}

}  // namespace

const MechanismReport& report_sections() {
  static constexpr MechanismReport kReport = {.explanation = format_places};
  return kReport;
}

}  // namespace nearwarp::mpu
