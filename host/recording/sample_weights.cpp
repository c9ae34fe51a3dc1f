// Weights of a sample's units, from the regression over their sizes.
#include "host/recording/sample_weights.h"

#include <algorithm>
#include <map>
#include <utility>

#include "host/core/regression_estimate.h"

namespace nearwarp::runtime {

void set_weights(LaunchSample& sample, const std::vector<double>& stratum_sizes) {
  std::vector<double> means(sample.strata.size(), 0);
  for (const SampleUnit& u : sample.parts)
    if (u.stratum != SampleUnit::kItself)
      means[u.stratum] += u.size / static_cast<double>(sample.strata[u.stratum].sampled);
  std::map<uint32_t, std::pair<double, double>> lines;  // by group: missing size, moment
  for (uint32_t i = 0; i < sample.strata.size(); ++i) {
    const SampleStratum& s = sample.strata[i];
    lines[s.group].first += stratum_sizes[i] - static_cast<double>(s.units) * means[i];
  }
  for (const SampleUnit& u : sample.parts) {
    if (u.stratum == SampleUnit::kItself) continue;
    const SampleStratum& s = sample.strata[u.stratum];
    const double apart = size_from_mean(u.size, means[u.stratum]);
    lines[s.group].second += line_share(s.units, s.sampled) * apart * apart;
  }
  // By group, the part of the change that is made: less than all where weights would differ too
  // much, for instance because few sizes lie far from the others.
  std::map<uint32_t, double> ways;
  const auto more = [&](const SampleUnit& u) {
    const SampleStratum& s = sample.strata[u.stratum];
    const auto& [missing, moment] = lines[s.group];
    if (!s.has_line || moment <= 0) return 0.0;
    return missing / moment * line_share(s.units, s.sampled) *
           size_from_mean(u.size, means[u.stratum]);
  };
  const auto plain = [&](const SampleUnit& u) {
    const SampleStratum& s = sample.strata[u.stratum];
    return static_cast<double>(s.units) / static_cast<double>(s.sampled);
  };
  for (const SampleUnit& u : sample.parts) {
    if (u.stratum == SampleUnit::kItself) continue;
    double& way = ways.try_emplace(sample.strata[u.stratum].group, 1).first->second;
    way = std::min(way, plain(u) / std::max({plain(u), more(u), -2 * more(u)}));
  }
  for (SampleUnit& u : sample.parts)
    if (u.stratum != SampleUnit::kItself)
      u.weight = plain(u) + ways[sample.strata[u.stratum].group] * more(u);
}

}  // namespace nearwarp::runtime
