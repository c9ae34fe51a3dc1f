// Designs samples: chooses launches of a program that stand for all.
#include "host/recording/launch_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "host/recording/division.h"
#include "host/recording/launch_distances.h"
#include "host/recording/repeats.h"
#include "host/recording/sample_choice.h"
#include "host/recording/sample_strata.h"
#include "host/recording/sample_units.h"
#include "host/recording/sample_weights.h"

namespace nearwarp::runtime {
namespace {

/// The largest share of the program's work that a sample may be.
constexpr double kMostWork = 0.5;

/// The part of the error that the spread of strata's units may cause, beside that of parts'
/// beginnings.
double error_of_spread(double error, bool inside) {
  const double known = inside ? std::hypot(kStartError, kInsideError) : kStartError;
  return std::sqrt(error * error - known * known);
}

class Design {
 public:
  Design(const Recording& recording, double error, uint32_t before, uint32_t together,
         const std::vector<uint64_t>& resident, uint64_t seed,
         const std::vector<uint64_t>& distances, bool by_load)
      : recording_(recording),
        error_(error),
        by_load_(by_load),
        together_(together),
        seed_(seed),
        alike_(recording.studies->of<std::vector<uint32_t>>(
            "first alike", [&] { return first_alike(recording); })),
        found_(
            sample_units(recording, launch_cuts(recording), before, together, resident, distances)),
        units_(found_.units) {}

  bool divides_launches() const { return found_.divided != 0; }
  Division make() const;

 private:
  std::string kernels_of(const Unit& unit) const;
  void add_part(const Unit& unit, Division& division) const;
  void spread_refreshes(Division& division) const;
  uint64_t work_of(const Division& division) const;
  std::vector<double> usual_work(const std::vector<Stratum>& strata) const;
  double expected_work(const std::vector<Members>& chosen, const std::vector<double>& usual) const;
  Division parts_of(const std::vector<Stratum>& strata, const std::vector<Members>& chosen) const;

  const Recording& recording_;
  double error_;
  bool by_load_;
  uint32_t together_;
  uint64_t seed_;
  std::shared_ptr<const std::vector<uint32_t>> alike_;  // by launch: the first one that it repeats
  SampleUnits found_;
  const std::vector<Unit>& units_;
};

std::string Design::kernels_of(const Unit& unit) const {
  std::string names;
  for (uint32_t i = unit.first; i < unit.end; ++i)
    names += (names.empty() ? "" : "+") + recording_.kernels[recording_.launches[i].kernel]->name;
  return names;
}

/// Adds a unit as a part, or as a piece of the part before if its lead-in begins within that, so
/// that no launch is simulated twice.
void Design::add_part(const Unit& unit, Division& division) const {
  if (!division.parts.empty() && !division.parts.back().blocks.has_value() &&
      follows(unit, division.parts.back().end, together_)) {
    LaunchPart& last = division.parts.back();
    if (last.pieces.empty()) last.pieces.push_back({last.first, last.end});
    last.pieces.push_back({unit.first, unit.end});
    last.end = unit.end;
    return;
  }
  LaunchPart& part = division.parts.emplace_back();
  part.begin = unit.begin;
  part.first = unit.first;
  part.end = unit.end;
  part.blocks = unit.blocks;
}

/// Sets the times of the first refresh of parts, so that a sample meets refreshes as often as the
/// whole program does: the i-th part has the i-th multiple of the golden ratio; these are evenly
/// spread.
void Design::spread_refreshes(Division& division) const {
  uint32_t at = static_cast<uint32_t>(seed_ * 0x9e3779b97f4a7c15 >> 32);
  for (LaunchPart& part : division.parts) {
    const bool is_beginning = part.begin == 0 && part.blocks.value_or(BlockRange{}).begin == 0;
    if (!is_beginning) part.refresh = at += kGoldenRatio;
  }
}

uint64_t Design::work_of(const Division& division) const {
  uint64_t work = 0;
  for (const LaunchPart& p : division.parts) work += instructions_of(recording_, p);
  return work;
}

/// By launch, the mean instructions of its stratum's units; with each unit's own, small units would
/// be chosen. Launches that are sampled inside have all of their own instructions, which is what
/// they cost in a lead-in.
std::vector<double> Design::usual_work(const std::vector<Stratum>& strata) const {
  std::vector<double> usual(recording_.launches.size(), 0);
  for (const Stratum& s : strata) {
    double sum = 0;
    for (const uint32_t unit : s.members) sum += units_[unit].instructions;
    for (const uint32_t unit : s.members) {
      const uint32_t launch = units_[unit].first;
      usual[launch] = units_[unit].blocks.has_value()
                          ? static_cast<double>(recording_.launches[launch].warp_instructions)
                          : sum / s.count();
    }
  }
  return usual;
}

double Design::expected_work(const std::vector<Members>& chosen,
                             const std::vector<double>& usual) const {
  Members in_order;
  for (const Members& members : chosen)
    in_order.insert(in_order.end(), members.begin(), members.end());
  std::sort(in_order.begin(), in_order.end());
  Division division;
  double work = 0;
  for (const uint32_t unit : in_order) {
    add_part(units_[unit], division);
    if (units_[unit].blocks.has_value()) work += units_[unit].work;
  }
  for (const LaunchPart& p : division.parts)
    if (!p.blocks.has_value())
      for (uint32_t i = p.begin; i < p.end; ++i) work += usual[i];
  return work;
}

Division Design::parts_of(const std::vector<Stratum>& strata,
                          const std::vector<Members>& chosen) const {
  // Groups in which enough is simulated to tell a line from it.
  constexpr uint64_t kForALine = 3;
  std::map<uint32_t, uint64_t> degrees;
  for (size_t i = 0; i < strata.size(); ++i)
    if (chosen[i].size() < strata[i].members.size())
      degrees[units_[strata[i].members[0]].group] += chosen[i].size() - 1;
  LaunchSample sample;
  sample.error = error_;
  sample.units = units_.size();
  std::vector<double> stratum_sizes;
  std::map<uint32_t, uint32_t> stratum_of;  // by unit that is simulated
  sample.divided = found_.divided;
  for (size_t i = 0; i < strata.size(); ++i) {
    const Stratum& of = strata[i];
    const bool all = chosen[i].size() == of.members.size();
    const Unit& first = units_[of.members[0]];
    for (const uint32_t u : chosen[i])
      stratum_of[u] = all ? SampleUnit::kItself : static_cast<uint32_t>(sample.strata.size());
    if (all) continue;
    SampleStratum stratum;
    stratum.kernels = kernels_of(first);
    stratum.group = first.group;
    stratum.has_line = degrees[first.group] >= kForALine;
    stratum.units = of.members.size();
    stratum.sampled = chosen[i].size();
    stratum.spread = of.deviation / of.mean;
    sample.strata.push_back(std::move(stratum));
    stratum_sizes.push_back(of.mean * of.count());
  }
  Division division;
  for (const auto& [u, stratum] : stratum_of) {
    const Unit& unit = units_[u];
    sample.launches += unit.blocks.has_value() ? 0 : unit.end - unit.first;
    const bool is_middle = unit.blocks.has_value() && unit.blocks->first != 0 &&
                           unit.blocks->end != recording_.launches[unit.first].blocks_recorded;
    SampleUnit simulated{stratum, 1, unit.size, is_middle ? unit.instructions : 0, unit.share};
    const bool goes_on = !sample.parts.empty() && stratum == SampleUnit::kItself &&
                         sample.parts.back().stratum == SampleUnit::kItself &&
                         !unit.blocks.has_value() && !division.parts.back().blocks.has_value() &&
                         division.parts.back().end == unit.first && unit.first != together_;
    if (goes_on) {
      sample.parts.back().size += unit.size;
      std::vector<LaunchRange>& pieces = division.parts.back().pieces;
      division.parts.back().end = unit.end;
      if (!pieces.empty()) pieces.back().end = unit.end;
      continue;
    }
    sample.parts.push_back(simulated);
    add_part(unit, division);
  }
  spread_refreshes(division);
  sample.by_load = by_load_;
  sample.simulated =
      static_cast<double>(work_of(division)) / static_cast<double>(recording_.warp_instructions);
  division.undivided = found_.undivided;
  if (sample.simulated > kMostWork) {
    division.parts.clear();
    division.in_one_go = {sample_within(error_),
                          fmt::format("it would have simulated {:.0f} % of the program's "
                                      "instructions, more than half",
                                      100 * sample.simulated)};
    return division;
  }
  set_weights(sample, stratum_sizes);
  division.sample = std::move(sample);
  return division;
}

Division Design::make() const {
  const Strata strata(found_, *alike_, error_of_spread(error_, divides_launches()), together_,
                      by_load_);
  const SampleChoice choice(units_, strata.all(), *alike_, together_, seed_);
  // Units that follow each other are cheaper than apart, and units between them come for free. So
  // several numbers of units are tried, and those with the least work are taken.
  const std::vector<uint64_t> plain = strata.numbers(1, ~uint64_t{0});
  uint64_t most = 2;
  for (size_t i = 0; i < plain.size(); ++i)
    if (plain[i] < strata.all()[i].members.size()) most = std::max(most, plain[i]);
  std::vector<Members> best = choice.of(plain);
  const std::vector<double> usual = usual_work(strata.all());
  double least = expected_work(best, usual);
  std::set<std::vector<uint64_t>> tried = {plain};
  for (const uint64_t limit : {most, most - most / 8, most - most / 4, most / 2})
    for (const double share : {1.3, 1.15, 1.0, 0.85, 0.7}) {
      const std::vector<uint64_t> numbers = strata.numbers(share, std::max<uint64_t>(2, limit));
      if (!tried.insert(numbers).second) continue;
      std::vector<Members> chosen = choice.of(numbers);
      std::vector<uint64_t> there;
      for (const Members& members : chosen) there.push_back(members.size());
      if (!strata.meet(there)) continue;
      const double work = expected_work(chosen, usual);
      if (work >= least) continue;
      least = work;
      best = std::move(chosen);
    }
  return parts_of(strata.all(), best);
}

}  // namespace

std::string sample_within(double error) {
  return fmt::format("a sample within {:.6g} %", 100 * error);
}

Division sample_launches(const Recording& recording, double error, uint32_t before,
                         uint32_t together, const std::vector<uint64_t>& resident, uint64_t seed,
                         bool apart, bool by_load) {
  if (recording.launches.empty()) return {};
  const bool may_divide = error > std::hypot(kStartError, kInsideError);
  const std::vector<uint64_t> distances =
      apart ? launch_distances(recording) : std::vector<uint64_t>();
  Design inside(recording, error, before, together, may_divide ? resident : std::vector<uint64_t>(),
                seed, distances, by_load);
  if (!inside.divides_launches()) return inside.make();
  Division blocks = inside.make();
  Division launches =
      Design(recording, error, before, together, {}, seed, distances, by_load).make();
  const bool is_less =
      blocks.sample.has_value() &&
      (!launches.sample.has_value() || blocks.sample->simulated < launches.sample->simulated);
  launches.undivided = blocks.undivided;
  return is_less ? blocks : launches;
}

}  // namespace nearwarp::runtime
