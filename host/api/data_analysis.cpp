// Analyses of what programs access: mappings of data to stacks, pages that are shared, objects.
#include <fmt/format.h>

#include "host/api/backend.h"
#include "host/api/by_caller.h"
#include "host/api/failure.h"
#include "host/api/nearwarp/analysis.h"
#include "host/api/programs.h"
#include "host/mechanisms/coda/object_places.h"
#include "host/mechanisms/coda/sharing.h"
#include "host/mechanisms/tom/mapping_survey.h"

namespace nearwarp {

struct SharingAnalysis::Whole {
  coda::PageSharing sharing;
};
struct ObjectAnalysis::Whole {
  coda::ObjectPlaces places;
};

const runtime::Recording& recording_with_code(const Program& program) {
  const runtime::Recording& recording = Access::of(program).recording;
  if (!recording.no_offloading.empty())
    throw UsageError(fmt::format("'{}' cannot be analyzed: {} - take a workload or an application",
                                 program.name(), recording.no_offloading));
  return recording;
}

namespace {

/// A function that passes the progress of an analysis to the caller.
std::function<bool(uint64_t, uint64_t)> asking(const Program& program,
                                               const AnalysisOptions& options) {
  if (!options.progress) return {};
  return [what = "analyzing " + program.name(), &options](uint64_t done, uint64_t total) {
    return by_caller([&] { return options.progress({what, done, total, "Mwi/s"}); });
  };
}

MappingQuality quality_of(const tom::MappingQuality& q) {
  return {q.first_bit, q.at_destination, q.one_stack, q.stacks};
}

}  // namespace

Expected<MappingAnalysis> analyze_mappings(const Program& program, const Machine& machine,
                                           const Policy& policy, const AnalysisOptions& options) {
  return guarded([&] {
    sim::StudyOptions own;
    check_backend(options.backend, options.device);
    if (options.backend == "cuda") own.cuda_device = options.device;
    own.progress = asking(program, options);
    tom::MappingAnalysis found = sim::analyze_mappings(
        recording_with_code(program), Access::of(machine).config, Access::of(policy).config, own);
    found.version = version();
    found.workload = program.name();
    found.size = program.size();
    found.overrides = changes_of(Access::of(machine), Access::of(policy));
    MappingAnalysis all;
    all.stacks = found.stacks;
    all.instances = found.instances;
    all.accesses = found.accesses;
    all.baseline = quality_of(found.baseline);
    for (const tom::MappingQuality& q : found.mappings) all.mappings.push_back(quality_of(q));
    all.best = found.best;
    for (const tom::CandidatePattern& c : found.candidates)
      all.candidates.push_back(
          {c.kernel, c.id, c.source_lines, c.instances, c.fixed_share, c.category});
    all.text = tom::format_mapping_analysis(found);
    all.document = tom::mapping_analysis_json(found);
    return all;
  });
}

Expected<std::string> SharingAnalysis::text(size_t width) const {
  return guarded([&] {
    if (whole == nullptr)
      throw UsageError("an analysis of nothing was used - take one of analyze_sharing()");
    return coda::format_page_sharing(whole->sharing, width);
  });
}

Expected<SharingAnalysis> analyze_sharing(const Program& program, const Machine& machine,
                                          const AnalysisOptions& options) {
  return guarded([&] {
    coda::PageSharing found = coda::study_sharing(
        Access::of(program).recording, Access::of(machine).config, asking(program, options));
    found.version = version();
    found.workload = program.name();
    found.size = program.size();
    SharingAnalysis all;
    all.page_bytes = found.page_bytes;
    all.stacks = found.stacks;
    all.pages = found.pages;
    all.by_blocks = found.by_blocks;
    all.by_stacks.insert(found.by_stacks.begin(), found.by_stacks.end());
    all.category = found.category();
    all.document = coda::page_sharing_json(found);
    all.whole =
        std::make_shared<const SharingAnalysis::Whole>(SharingAnalysis::Whole{std::move(found)});
    return all;
  });
}

Expected<std::string> ObjectAnalysis::text(size_t width) const {
  return guarded([&] {
    if (whole == nullptr)
      throw UsageError("an analysis of nothing was used - take one of analyze_objects()");
    return coda::format_object_places(whole->places, width);
  });
}

Expected<ObjectAnalysis> analyze_objects(const Program& program, const Machine& machine,
                                         const Policy& policy, const AnalysisOptions& options) {
  return guarded([&] {
    const config::PolicyConfig& config = Access::of(policy).config;
    if (config.mapping != "coda")
      throw UsageError(
          fmt::format("policy '{}' places no objects (policy.mapping = \"{}\") - take "
                      "one that does, such as coda",
                      config.name, config.mapping));
    coda::ObjectPlaces found =
        coda::study_places({recording_with_code(program), Access::of(machine).config, config},
                           asking(program, options));
    found.version = version();
    found.size = program.size();
    ObjectAnalysis all;
    all.stacks = found.stacks;
    for (const coda::ObjectPlace& o : found.objects)
      all.objects.push_back({o.name, o.address, o.bytes, o.accesses, o.block_bytes, o.constant,
                             o.from_code, o.local, o.by_distance, o.by_share});
    all.local_by_distance = found.local_share(&coda::ObjectPlace::by_distance);
    all.local_by_share = found.local_share(&coda::ObjectPlace::by_share);
    all.document = coda::object_places_json(found);
    all.whole =
        std::make_shared<const ObjectAnalysis::Whole>(ObjectAnalysis::Whole{std::move(found)});
    return all;
  });
}

}  // namespace nearwarp
