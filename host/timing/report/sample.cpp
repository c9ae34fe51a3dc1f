// A sample of a program's launches.
#include "host/timing/report/sample.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "host/core/regression_estimate.h"
#include "host/core/student.h"

namespace nearwarp::report {
namespace {

using Json = nlohmann::ordered_json;

/// The error of the estimate of a sum over all units, at 95 % confidence, from the value of each
/// part, `values`, whose spread is expected relative to `levels`.
///
/// A group's residuals - from their stratum's mean, or the group's line over sizes - say how much
/// more or less they spread than was expected, and that expectation counts as some residuals, too
/// (a scaled inverse chi-squared distribution beforehand; Gelman et al., "Bayesian data analysis",
/// 3rd edition, 2.6). Where rare times may be missing among the parts (SampleReport::by_load) they
/// only say more.
double error_of(const SampleReport& s, const std::vector<double>& values,
                const std::vector<double>& levels) {
  struct Mean {
    double size = 0, value = 0, level = 0;
  };
  std::vector<Mean> means(s.strata.size());
  for (size_t i = 0; i < s.parts.size(); ++i) {
    const SampledLaunches& p = s.parts[i];
    if (p.stratum == SampledLaunches::kItself) continue;
    const auto n = static_cast<double>(s.strata[p.stratum].sampled);
    means[p.stratum].size += p.size / n;
    means[p.stratum].value += values[i] / n;
    means[p.stratum].level += levels[i] / n;
  }
  struct Group {
    double together = 0, moment = 0;  // for the line's slope
    double residuals = 0, degrees = 0, variance = 0;
    bool has_line = false;
  };
  std::map<uint32_t, Group> groups;
  const auto each = [&](auto f) {
    for (size_t i = 0; i < s.parts.size(); ++i) {
      const SampledLaunches& p = s.parts[i];
      if (p.stratum == SampledLaunches::kItself) continue;
      const SampleStratum& h = s.strata[p.stratum];
      const Mean& mean = means[p.stratum];
      f(groups[h.group], h, p.weight, size_from_mean(p.size, mean.size), values[i] - mean.value,
        h.spread * std::abs(mean.level));
    }
  };
  each([](Group& g, const SampleStratum& h, double, double size, double value, double) {
    const double share = line_share(h.units, h.sampled);
    g.together += share * size * value;
    g.moment += share * size * size;
  });
  each([](Group& g, const SampleStratum& h, double weight, double size, double value,
          double expected) {
    const double slope = h.has_line && g.moment > 0 ? g.together / g.moment : 0;
    const double residual = value - slope * size;
    if (expected > 0) g.residuals += residual * residual / (expected * expected);
    // Variance from units that stand for others, and from the others themselves.
    g.variance += weight * std::max(0.0, weight - 1) * expected * expected;
    g.has_line = h.has_line;
  });
  for (const SampleStratum& h : s.strata)
    groups[h.group].degrees += static_cast<double>(h.sampled) - 1;
  double variance = 0, spread = 0;
  for (const auto& [number, g] : groups) {
    const double degrees = g.degrees - (g.has_line ? 1 : 0) + s.expectation;
    if (degrees <= 0) continue;
    const double found = (g.residuals + s.expectation) / degrees;
    const double v = g.variance * (s.by_load ? std::max(1.0, found) : found);
    variance += v;
    spread += v * v / degrees;
  }
  if (variance == 0) return 0;
  return student_95(variance * variance / spread) * std::sqrt(variance);  // Satterthwaite's degrees
}

double sum_of(const SampleReport& s) {
  double sum = 0;
  for (const SampledLaunches& p : s.parts) sum += p.weight * static_cast<double>(p.cycles);
  return sum;
}

std::vector<double> cycles_of(const SampleReport& s) {
  std::vector<double> cycles;
  for (const SampledLaunches& p : s.parts) cycles.push_back(static_cast<double>(p.cycles));
  return cycles;
}

bool same_launches(const SampleReport& a, const SampleReport& b) {
  if (a.parts.size() != b.parts.size() || a.strata.size() != b.strata.size()) return false;
  for (size_t i = 0; i < a.parts.size(); ++i)
    if (a.parts[i].first != b.parts[i].first || a.parts[i].last != b.parts[i].last ||
        a.parts[i].weight != b.parts[i].weight || a.parts[i].size != b.parts[i].size)
      return false;
  return true;
}

}  // namespace

double cycles_error(const SampleReport& s) {
  const double sum = sum_of(s);
  if (sum == 0) return 0;
  const std::vector<double> cycles = cycles_of(s);
  return std::hypot(error_of(s, cycles, cycles) / sum, s.start_error);
}

std::optional<double> ratio_error(const SampleReport* a, const SampleReport* b) {
  if (a == nullptr || b == nullptr) {
    if (a == nullptr && b == nullptr) return 0;
    return cycles_error(a == nullptr ? *b : *a);
  }
  if (!same_launches(*a, *b)) return std::nullopt;
  const double sum_a = sum_of(*a), sum_b = sum_of(*b);
  if (sum_a == 0 || sum_b == 0) return std::nullopt;
  // The residuals of launches' cycles from the ratio say how sure the ratio is.
  const std::vector<double> of_a = cycles_of(*a), of_b = cycles_of(*b);
  std::vector<double> rest;
  for (size_t i = 0; i < of_a.size(); ++i) rest.push_back(of_a[i] - sum_a / sum_b * of_b[i]);
  return std::hypot(error_of(*a, rest, of_a) / sum_a, std::max(a->start_error, b->start_error));
}

Json sample_json(const SampleReport& s) {
  Json json = {
      {"error_wanted", s.error},      {"error", cycles_error(s)}, {"units", s.units},
      {"launches", s.launches},       {"simulated", s.simulated}, {"expectation", s.expectation},
      {"start_error", s.start_error}, {"divided", s.divided}};
  if (s.by_load) json["by_load"] = true;
  json["strata"] = Json::array();
  for (const SampleStratum& h : s.strata)
    json["strata"].push_back({{"kernels", h.kernels},
                              {"group", h.group},
                              {"has_line", h.has_line},
                              {"units", h.units},
                              {"sampled", h.sampled},
                              {"spread", h.spread}});
  json["parts"] = Json::array();
  for (const SampledLaunches& p : s.parts) {
    json["parts"].push_back({{"first", p.first},
                             {"last", p.last},
                             {"weight", p.weight},
                             {"size", p.size},
                             {"cycles", p.cycles}});
    if (p.stratum != SampledLaunches::kItself) json["parts"].back()["stratum"] = p.stratum;
    if (p.blocks.has_value())
      json["parts"].back()["blocks"] = {
          {"begin", p.blocks->begin}, {"first", p.blocks->first}, {"end", p.blocks->end}};
  }
  return json;
}

std::optional<SampleReport> sample_of(const Json& launches) {
  if (!launches.contains("sample")) return std::nullopt;
  const Json& json = launches.at("sample");
  SampleReport s;
  s.error = json.at("error_wanted").get<double>();
  s.units = json.at("units").get<uint64_t>();
  s.launches = json.at("launches").get<uint64_t>();
  s.simulated = json.at("simulated").get<double>();
  s.expectation = json.at("expectation").get<double>();
  s.start_error = json.at("start_error").get<double>();
  s.by_load = json.value("by_load", false);
  s.divided = json.value("divided", uint64_t{0});
  for (const Json& h : json.at("strata"))
    s.strata.push_back({h.at("kernels").get<std::string>(), h.at("group").get<uint32_t>(),
                        h.at("has_line").get<bool>(), h.at("units").get<uint64_t>(),
                        h.at("sampled").get<uint64_t>(), h.at("spread").get<double>()});
  for (const Json& p : json.at("parts")) {
    SampledLaunches one;
    one.first = p.at("first").get<uint64_t>();
    one.last = p.at("last").get<uint64_t>();
    one.stratum = p.value("stratum", SampledLaunches::kItself);
    one.weight = p.at("weight").get<double>();
    one.size = p.at("size").get<double>();
    one.cycles = p.at("cycles").get<uint64_t>();
    if (p.contains("blocks")) {
      const Json& b = p.at("blocks");
      one.blocks = BlocksReport{b.at("begin").get<uint64_t>(), b.at("first").get<uint64_t>(),
                                b.at("end").get<uint64_t>()};
    }
    // A damaged file must not name strata that are not there.
    if (one.stratum != SampledLaunches::kItself && one.stratum >= s.strata.size())
      one.stratum = SampledLaunches::kItself;
    s.parts.push_back(one);
  }
  return s;
}

}  // namespace nearwarp::report
