// Expressions: the values of runs that figures show.
#include "host/timing/experiment/expression.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "host/core/error.h"
#include "host/timing/experiment/workload_parameter.h"

namespace nearwarp::experiment {
namespace {

using Json = nlohmann::ordered_json;

struct Known {
  Quantity quantity;
  const char* pointer;  ///< into the run (RFC 6901)
  double times;
};

constexpr double kMega = 1e-6;

const std::vector<Known>& known() {
  static const std::vector<Known> all = {
      {{"cycles", "core cycles", "simulated time"}, "/cycles", 1},
      {{"time", "ms", "simulated time, for machines of different clocks"}, "/cycles", 1},
      {{"ipc", "per cycle", "thread-instructions per core cycle"}, "/ipc", 1},
      {{"warp_instructions", "", "committed by all SMs"}, "/warp_instructions", 1},
      {{"offloaded", "%", "thread-instructions that SMs near memory executed"},
       "/offloaded_fraction",
       100},
      {{"tx", "MB", "traffic from the GPU to memory"}, "/traffic/gpu_to_memory_bytes", kMega},
      {{"rx", "MB", "traffic from memory to the GPU"}, "/traffic/memory_to_gpu_bytes", kMega},
      {{"cross", "MB", "traffic between memory stacks"}, "/traffic/memory_to_memory_bytes", kMega},
      {{"tx_used", "%", "busy time of links from the GPU to memory"},
       "/bandwidth_used/gpu_to_memory",
       100},
      {{"rx_used", "%", "busy time of links from memory to the GPU"},
       "/bandwidth_used/memory_to_gpu",
       100},
      {{"energy", "mJ", "an estimate"}, "/energy/total_joules", 1e3},
      {{"board_energy", "mJ",
        "a board's most power times time, or what was done where there is none"},
       "/energy/by_board_joules",
       1e3},
      {{"instructions_per_joule", "M/J", "thread-instructions per joule: performance per watt"},
       "/thread_instructions",
       kMega},
      {{"energy_delay", "mJ s", "energy times simulated time"},
       "/energy/energy_delay_joule_seconds",
       1e3},
      {{"sm_energy", "mJ", "dynamic energy of SMs"}, "/energy/parts/sm", 1e3},
      {{"l2_energy", "mJ", "energy of L2 caches"}, "/energy/parts/l2", 1e3},
      {{"network_energy", "mJ", "energy of networks on chip"}, "/energy/parts/network", 1e3},
      {{"link_energy", "mJ", "energy of links between chips"}, "/energy/parts/links", 1e3},
      {{"dram_energy", "mJ", "energy of DRAM"}, "/energy/parts/dram", 1e3},
      {{"leakage", "mJ", "leakage of all parts"}, "/energy/parts/leakage", 1e3},
  };
  return all;
}

const Known* find(const std::string& name) {
  for (const Known& k : known())
    if (name == k.quantity.name) return &k;
  return nullptr;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(separator, begin);
    parts.push_back(trimmed(text.substr(begin, end == std::string::npos ? end : end - begin)));
  }
  return parts;
}

constexpr std::string_view kEnergyTerm = "energy.";
bool is_energy_term(const std::string& name) { return name.rfind(kEnergyTerm, 0) == 0; }

/// "energy.NAME": millijoules of a term of the energy account; nothing if it is none of the run's.
std::optional<double> energy_term(const Json& run, const std::string& name) {
  if (!is_energy_term(name) || !run.contains("energy")) return std::nullopt;
  for (const Json& t : run.at("energy").at("terms")) {
    if (t.at("name").get<std::string>() != name.substr(kEnergyTerm.size())) continue;
    return t.at("femtojoules").get<double>() * 1e-12;
  }
  return std::nullopt;
}

std::string unit_of(const std::string& name) {
  if (is_energy_term(name)) return "mJ";
  const Known* k = find(name);
  return k == nullptr ? "" : k->quantity.unit;
}

/// "workload.NAME": the number that the program's name has for that parameter.
std::optional<double> parameter(const Json& run, const std::string& name) {
  if (!name.starts_with(kWorkloadParameter)) return std::nullopt;
  const auto value = parameter_in(run.at("workload").get<std::string>(),
                                  name.substr(std::strlen(kWorkloadParameter)));
  if (!value) return std::nullopt;
  char* end = nullptr;
  const double number = std::strtod(value->c_str(), &end);
  return value->empty() || *end != '\0' ? std::nullopt : std::optional(number);
}

double term(const Json& run, const std::string& name) {
  if (find(name) != nullptr) return quantity_of(run, name);
  if (const auto number = parameter(run, name)) return *number;
  if (const auto millijoules = energy_term(run, name)) return *millijoules;
  const auto& counters = run.at("counters");
  const auto at = counters.find(name);
  return at == counters.end() ? 0 : at->at("value").get<double>();
}

double sum(const Json& run, const std::vector<std::string>& terms) {
  double all = 0;
  for (const std::string& name : terms) all += term(run, name);
  return all;
}

}  // namespace

const std::vector<Quantity>& quantities() {
  static const std::vector<Quantity> all = [] {
    std::vector<Quantity> list;
    for (const Known& k : known()) list.push_back(k.quantity);
    return list;
  }();
  return all;
}

double quantity_of(const Json& run, const std::string& name) {
  if (name == "time") return quantity_of(run, "cycles") / run.at("core_mhz").get<double>() / 1e3;
  const Known* k = find(name);
  const Json::json_pointer pointer(k->pointer);
  const double value = run.contains(pointer) ? run.at(pointer).get<double>() * k->times : 0;
  if (name != "instructions_per_joule") return value;
  const double millijoules = quantity_of(run, "energy");
  return millijoules > 0 ? value / (millijoules * 1e-3) : 0;
}

Expression Expression::parse(const std::string& text) {
  const std::vector<std::string> halves = split(text, '/');
  Expression e;
  if (halves.size() <= 2) {
    e.sum_ = split(halves[0], '+');
    if (halves.size() == 2) e.over_ = split(halves[1], '+');
  }
  const auto bad = [](const std::string& name) {
    const bool is_number = !name.empty() && name[0] >= '0' && name[0] <= '9';
    return name.empty() || is_number ||
           name.find_first_not_of(
               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
               "0123456789_.-") != std::string::npos;
  };
  bool wrong = halves.size() > 2;
  for (const auto* terms : {&e.sum_, &e.over_})
    for (const std::string& name : *terms) wrong = wrong || bad(name);
  if (wrong) throw Error(fmt::format("'{}' is no sum of quantities and counters", text));
  return e;
}

std::optional<double> Expression::of(const Json& run) const {
  const double value = sum(run, sum_);
  if (over_.empty()) return value;
  const double divisor = sum(run, over_);
  if (divisor == 0) return std::nullopt;
  return value / divisor;
}

std::vector<std::string> Expression::unknown(const Json& run) const {
  std::vector<std::string> names;
  for (const auto* terms : {&sum_, &over_})
    for (const std::string& name : *terms)
      if (find(name) == nullptr && !run.at("counters").contains(name) && !energy_term(run, name) &&
          !parameter(run, name))
        names.push_back(name);
  return names;
}

std::vector<std::string> Expression::terms() const {
  std::vector<std::string> all = sum_;
  all.insert(all.end(), over_.begin(), over_.end());
  return all;
}

std::string Expression::unit() const {
  if (!over_.empty()) return "";
  const std::string first = unit_of(sum_[0]);
  for (const std::string& name : sum_)
    if (unit_of(name) != first) return "";
  return first;
}

}  // namespace nearwarp::experiment
