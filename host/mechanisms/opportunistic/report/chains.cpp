// An explanation of a run: how many offload chains were offloaded or kept, and why.
#include <fmt/format.h>

#include <array>

#include "host/timing/report/columns.h"
#include "host/timing/report/section.h"

namespace nearwarp::opportunistic {
namespace {

using namespace report;

constexpr std::array kFates = {
    std::pair{"offloaded", "chains.offloaded"},
    std::pair{"kept: operand in the L1", "chains.l1_hits"},
    std::pair{"kept: data meets nowhere", "chains.elsewhere"},
    std::pair{"kept: offload queue full", "chains.full"},
    std::pair{"kept: lanes of too many lines", "chains.divergent"},
    std::pair{"kept: no lane", "chains.inactive"},
};

/// The reasons why chains waited in the service queues of `prefix`, in per cent of their time
/// there.
std::string waits_text(const RunResult& run, const std::string& prefix) {
  constexpr std::array kWaits = {
      std::pair{"operands", "wait_operands"},
      std::pair{"turns", "wait_turn"},
      std::pair{"a place in the buffer", "wait_buffer"},
      std::pair{"their data to be read", "wait_read"},
      std::pair{"the ALU", "wait_alu"},
      std::pair{"the store's acknowledgement", "wait_stored"},
      std::pair{"the way back", "wait_reply"},
  };
  const uint64_t all = counter_value(run, prefix + "cycles");
  if (all == 0) return "";
  std::string text;
  for (const auto& [what, name] : kWaits) {
    const double share =
        static_cast<double>(counter_value(run, prefix + name)) / static_cast<double>(all);
    if (share >= 0.005)
      text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", what, 100 * share);
  }
  return " Of that time they waited for: " + text + ".";
}

std::string at_slices(const RunResult& run) {
  if (counter_value(run, "chains.packets") == 0) return " No ComputePacket was sent.";
  return fmt::format(
      " A warp waited {} core cycles in the mean for one that it had offloaded. Of {} "
      "ComputePackets {} found their service queue full, and came back as operands; those taken in "
      "at slices stayed {} cycles of the L2 in the mean, at most {} in one queue.{}",
      mean(counter_value(run, "chains.away_cycles"), counter_value(run, "chains.offloaded")),
      grouped(counter_value(run, "chains.packets")),
      grouped(counter_value(run, "chains.came_back")),
      mean(counter_value(run, "service.cycles"), counter_value(run, "service.taken")),
      counter_value(run, "service.peak"), waits_text(run, "service."));
}

/// A text about the chains that other SMs executed; empty under policies in which no SM does that.
std::string at_sms(const RunResult& run) {
  const Counter* queues = find_counter(run, "sm_service.queues");
  if (queues == nullptr) return "";
  if (queues->value == 0)
    return " No SM executes chains of others: kernels leave too little shared memory for service "
           "queues, or there are no SMs on the ways through the network.";
  if (counter_value(run, "chains.to_sms") == 0) return " None of the packets went to another SM.";
  return fmt::format(
      " {} of the packets went to other SMs, on the ways to two slices; those taken in stayed {} "
      "core cycles in the mean, at most {} in one queue; {} found it full. ALUs were wanted for "
      "them and busy for {} cycles, and executed them in {}.{}",
      grouped(counter_value(run, "chains.to_sms")),
      mean(counter_value(run, "sm_service.cycles"), counter_value(run, "sm_service.taken")),
      counter_value(run, "sm_service.peak"),
      grouped(counter_value(run, "sm_service.refused") +
              counter_value(run, "sm_service.turned_away")),
      grouped(counter_value(run, "sm_service.alu_waits")),
      grouped(counter_value(run, "sm_service.alu_cycles")), waits_text(run, "sm_service."));
}

std::string format_chains(const RunResult& run, size_t width) {
  const uint64_t instances = counter_value(run, "chains.instances");
  if (counter_value(run, "chains.found") == 0) return "";
  std::vector<std::string> names = {"came to by warps"};
  Column count{"chains", {grouped(instances)}}, share{"%", {instances == 0 ? "-" : "100.0"}};
  for (const auto& [text, name] : kFates) {
    const uint64_t n = counter_value(run, name);
    names.emplace_back(text);
    count.cells.push_back(grouped(n));
    share.cells.push_back(
        instances == 0
            ? "-"
            : fmt::format("{:.1f}", 100 * static_cast<double>(n) / static_cast<double>(instances)));
  }
  const std::string text = fmt::format("Offload chains under {}: {} in the code.", run.policy,
                                       counter_value(run, "chains.found")) +
                           at_slices(run) + at_sms(run);
  return wrapped(text, width) + "\n" + columns_text(names, {count, share}, width);
}

}  // namespace

const MechanismReport& report_sections() {
  static constexpr MechanismReport kReport = {.explanation = format_chains};
  return kReport;
}

}  // namespace nearwarp::opportunistic
