// Files of results, compared and joined.
#include "host/api/nearwarp/results.h"

#include <nlohmann/json.hpp>

#include "host/api/failure.h"
#include "host/api/inside.h"
#include "host/api/state.h"
#include "host/core/json_as_text.h"
#include "host/timing/compare/compare.h"
#include "host/timing/compare/nsight.h"
#include "host/timing/sweep/merge.h"

namespace nearwarp {

struct Comparison::Whole {
  compare::Difference difference;
};

namespace {

std::vector<ValueChange> changes_of(const std::vector<compare::Change>& changes) {
  std::vector<ValueChange> all;
  all.reserve(changes.size());
  for (const compare::Change& c : changes)
    all.push_back({c.name, c.unit, c.before, c.after, c.weight});
  return all;
}

std::vector<CycleChange> causes_of(const std::vector<compare::CycleShare>& causes) {
  std::vector<CycleChange> all;
  for (const compare::CycleShare& cause : causes) {
    all.push_back({cause.what, cause.cycles});
    for (const compare::CyclePart& part : cause.parts)
      all.back().parts.push_back({part.what, part.cycles});
  }
  return all;
}

RunComparison comparison_of(const compare::RunDifference& d) {
  RunComparison run;
  run.title = d.title;
  run.settings = d.settings;
  run.sentence = d.sentence;
  run.headlines = changes_of(d.headlines);
  run.changes = changes_of(d.changes);
  run.compared = d.compared;
  run.certainty = d.certainty;
  run.only_first = d.only_a;
  run.only_second = d.only_b;
  for (const compare::KernelShare& k : d.cycles.kernels)
    run.kernels.push_back({k.kernel, k.cycles, causes_of(k.causes)});
  run.causes = causes_of(d.cycles.causes);
  return run;
}

}  // namespace

double ValueChange::relative() const {
  return compare::Change{name, unit, before, after, weight}.relative();
}

Expected<std::string> Comparison::text(size_t most, size_t width) const {
  return guarded([&] {
    if (whole == nullptr)
      throw UsageError("a comparison of nothing was used - take one of compare_results()");
    return compare::format(whole->difference, most, width);
  });
}

namespace {

Comparison compared(const compare::Document& before, const compare::Document& after) {
  auto whole = std::make_shared<Comparison::Whole>();
  whole->difference = compare::compare(before, after);
  const compare::Difference& d = whole->difference;
  Comparison all;
  all.settings = d.settings;
  for (const compare::RunDifference& run : d.runs) all.runs.push_back(comparison_of(run));
  all.only_first = d.only_a;
  all.only_second = d.only_b;
  all.document = json_as_text(compare::compare_json(d), 1) + "\n";
  all.equal = d.none();
  all.whole = std::move(whole);
  return all;
}

/// The results as a document, with the machine of the first one.
compare::Document document_of_results(std::span<const Result> results) {
  if (results.empty()) throw UsageError("there are no results to compare - give those of a run");
  run_of(results.front());  // throws if it is a Result that no run has made
  const Expected<std::string> text =
      document(results, Access::make<Machine>(results.front().whole->machine));
  if (!text) throw UsageError(text.failure().message);
  return compare::document_of(nlohmann::ordered_json::parse(*text), "results");
}

}  // namespace

Expected<Comparison> compare_results(const std::string& first, const std::string& second) {
  return guarded([&] {
    const compare::Document before = compare::read_document(first);
    return compared(before, compare::read_document(second));
  });
}

Expected<Comparison> compare_results(std::span<const Result> first,
                                     std::span<const Result> second) {
  return guarded([&] {
    const compare::Document before = document_of_results(first);
    return compared(before, document_of_results(second));
  });
}

bool is_measured(const std::string& path) {
  const Expected<bool> is = guarded([&] { return compare::is_nsight(path); });
  return is && *is;
}

Expected<MeasuredComparison> compare_measured(const std::string& measured,
                                              const std::string& results) {
  return guarded([&] {
    const compare::Document document = compare::read_document(results);
    const std::vector<compare::MeasuredLaunch> launches = compare::read_nsight(measured);
    const std::vector<compare::LaunchPair> pairs = compare::launch_pairs(launches, document);
    MeasuredComparison all;
    for (const compare::LaunchPair& p : pairs)
      all.launches.push_back({p.kernel, p.measured, p.simulated});
    all.mean_error = compare::mean_error(pairs);
    all.correlation = compare::correlation(pairs);
    all.text = compare::format(pairs, launches, document);
    return all;
  });
}

Expected<MergeOutcome> merge_results(Texts files, const std::string& output) {
  return guarded([&] {
    const sweep::MergeOutcome done = sweep::merge({files.begin(), files.end()}, output);
    return MergeOutcome{done.points, done.duplicates, done.failed, done.torn};
  });
}

}  // namespace nearwarp
