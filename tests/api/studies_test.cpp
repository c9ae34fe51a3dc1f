// Have what there is, analyses, comparisons and studies of parts the command line's numbers, and
// are their failures values?
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "host/api/nearwarp/analysis.h"
#include "host/api/nearwarp/catalogue.h"
#include "host/api/nearwarp/checks.h"
#include "host/api/nearwarp/parts.h"
#include "host/api/nearwarp/results.h"
#include "host/api/nearwarp/traces.h"
#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

using Json = nlohmann::json;

/// The document that a command writes with --json.
Json written(const Words& arguments, const char* option = "--json") {
  const TemporaryFolder folder;
  const std::string file = folder.file("d.json");
  const Outcome ran = run_program(arguments + Words{option, file});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  return Json::parse(read_text(file));
}

template <class T>
T value_of(Expected<T> made) {
  EXPECT_TRUE(made) << made.failure().message;
  return made.value();
}

Machine machine(const char* name) { return value_of(Machine::load(name)); }
Policy policy(const char* name) { return value_of(Policy::load(name)); }

TEST(ApiStudies, CataloguesAreThoseOfList) {
  for (const std::string& kind : catalogue_kinds()) {
    EXPECT_EQ(Json::parse(value_of(catalogue_document(kind))), written({"list", kind})) << kind;
    for (const CatalogueEntry& entry : value_of(catalogue(kind)))
      EXPECT_FALSE(entry.failure.has_value()) << entry.name;
  }
  const auto failed = catalogue("machine");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.failure().kind, Failure::Kind::kUsage);
  EXPECT_EQ(failed.failure().what, "cannot list 'machine'");
  EXPECT_TRUE(contains(failed.failure().right, "'machines'")) << failed.failure().right;
}

TEST(ApiStudies, AFileThatCannotBeLoadedHidesNoOther) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("machines"));
  std::ofstream(folder.file("machines/broken.toml")) << "[gpu]\nsms = \"many\"\n";
  setenv("NEARWARP_CONFIG_PATH", folder.file("").c_str(), 1);
  size_t broken = 0, whole = 0;
  for (const CatalogueEntry& entry : value_of(catalogue("machines"))) {
    if (entry.name != "broken") {
      whole += entry.failure.has_value() ? 0 : 1;
      continue;
    }
    ++broken;
    ASSERT_TRUE(entry.failure.has_value());
    EXPECT_EQ(entry.failure->file, folder.file("machines/broken.toml"));
    EXPECT_NE(entry.failure->line, 0u);
  }
  unsetenv("NEARWARP_CONFIG_PATH");
  EXPECT_EQ(broken, 1u);
  EXPECT_GT(whole, 5u);
}

TEST(ApiStudies, ShownFilesAreThoseOfShow) {
  const Words changes = {"gpu.sms=32"};
  const ShownFile file = value_of(show("machine", "tom", changes));
  const Outcome ran = run_program({"show", "machine", "tom", "--set", "gpu.sms=32"});
  EXPECT_EQ(file.text, ran.out);
  EXPECT_EQ(Json::parse(file.document), written({"show", "machine", "tom", "--set", "gpu.sms=32"}));
  EXPECT_EQ(file.changes, changes);
  // The text that is shown is the machine.
  EXPECT_EQ(value_of(value_of(Machine::parse(file.text)).get("gpu.sms")), "32");
  EXPECT_FALSE(show("machine", "tomm"));
  EXPECT_FALSE(show("mashine", "tom"));
  for (const std::string& kind : file_kinds()) EXPECT_FALSE(file_names(kind).empty()) << kind;
  const std::vector<KeyWords> keys = value_of(key_words("machine", "tom"));
  EXPECT_TRUE(std::ranges::any_of(
      keys, [](const KeyWords& k) { return k.name == "machine.shape" && k.words.size() > 1; }));
  EXPECT_EQ(devices().cuda.empty(), !devices().why_no_cuda.empty());
}

TEST(ApiStudies, ComparisonsAreThoseOfCompare) {
  const TemporaryFolder folder;
  const std::string first = folder.file("a.json"), second = folder.file("b.json");
  run_program({"run", "axpy", "--policy", "baseline", "--json", first});
  run_program({"run", "axpy", "--policy", "baseline", "--set", "gpu.sms=32", "--json", second});
  const Comparison found = value_of(compare_results(first, second));
  EXPECT_EQ(Json::parse(found.document), written({"compare", first, second}));
  std::string text = value_of(found.text());  // which names an argument, not an option
  const std::string argument = "`most`";
  ASSERT_NE(text.find(argument), std::string::npos) << text;
  text.replace(text.find(argument), argument.size(), "--all");
  EXPECT_EQ(text, run_program({"compare", first, second}).out);
  EXPECT_FALSE(found.equal);
  ASSERT_EQ(found.runs.size(), 1u);
  ASSERT_FALSE(found.runs[0].headlines.empty());
  EXPECT_EQ(found.runs[0].headlines[0].name, "cycles");
  EXPECT_EQ(found.runs[0].settings.at(0), "overrides: - -> gpu.sms=32");
  EXPECT_TRUE(value_of(compare_results(first, first)).equal);
  EXPECT_EQ(compare_results(first, folder.file("none")).failure().what,
            "cannot read '" + folder.file("none") + "'");
  EXPECT_FALSE(Comparison().text());
  EXPECT_FALSE(compare_results(std::vector<Result>(), std::vector<Result>(1)));
  EXPECT_FALSE(is_measured(first));
}

TEST(ApiStudies, PartsOfASweepAreJoined) {
  const TemporaryFolder folder;
  Words files;
  for (const char* part : {"1/2", "2/2"}) {
    files.push_back(folder.file("part" + std::to_string(files.size()) + ".jsonl"));
    run_program(
        {"sweep", "axpy", "--policy", "baseline,tom", "--shard", part, "--out", files.back()});
  }
  const MergeOutcome done = value_of(merge_results(files, folder.file("all.jsonl")));
  EXPECT_EQ(done.points, 2u);
  EXPECT_EQ(done.duplicates, 0u);
  const MergeOutcome again =
      value_of(merge_results(Words{files[0], files[0], files[1]}, folder.file("all.jsonl")));
  EXPECT_EQ(again.points, 2u);
  EXPECT_EQ(again.duplicates, 1u);
  EXPECT_FALSE(merge_results(Words{folder.file("none")}, folder.file("all.jsonl")));
}

TEST(ApiStudies, ChecksAreThoseOfCheck) {
  const CheckReport found = value_of(check_workload("reduction"));
  EXPECT_TRUE(found.clean());
  EXPECT_EQ(Json::parse(found.document), written({"check", "reduction"}));
  ASSERT_EQ(found.programs.size(), 1u);
  EXPECT_EQ(value_of(found.programs[0].text()), run_program({"check", "reduction"}).out);
  EXPECT_GT(found.programs[0].accesses, 1000u);
  EXPECT_TRUE(contains(check_workload("reduction", "small", {.kernels = "xyz"}).failure().message,
                       "no kernel with a match of 'xyz'"));
  EXPECT_TRUE(contains(check_workload("redction").failure().message, "'reduction'"));
  EXPECT_FALSE(check_workload("reduction", "huge"));
  EXPECT_TRUE(contains(check_application(Words{"true"}).failure().message,
                       "did not use the simulated GPU"));
}

TEST(ApiStudies, CodeIsAnalyzedAsByAnalyze) {
  const CodeAnalysis found = value_of(analyze_code("libor", machine("tom"), policy("tom")));
  EXPECT_EQ(Json::parse(found.document), written({"analyze", "libor", "--policy", "tom"}));
  const CodeAnalysis of_program =
      value_of(analyze_code(value_of(Program::workload("libor")), machine("tom"), policy("tom")));
  EXPECT_EQ(of_program.kernels.size(), found.kernels.size());
  EXPECT_TRUE(contains(found.text, of_program.text.substr(0, of_program.text.find("\n\n"))));
  size_t candidates = 0;
  for (const CodeOfKernel& kernel : found.kernels) candidates += kernel.candidates.size();
  EXPECT_GT(candidates, 0u);
  EXPECT_TRUE(contains(run_program({"analyze", "libor", "--chains"}).out,
                       value_of(analyze_chains("libor"))[0].text));
  const std::vector<CodeView> strides = value_of(analyze_strides("libor"));
  ASSERT_FALSE(strides.empty());
  EXPECT_TRUE(contains(run_program({"analyze", "libor", "--strides"}).out,
                       strides[0].text.substr(0, strides[0].text.find('\n'))));
  EXPECT_FALSE(strides[0].objects.empty());
  EXPECT_FALSE(value_of(analyze_locations("libor", policy("mpu")))[0].places.empty());
  EXPECT_EQ(analyze_code("libor", machine("tom"), policy("tom"), {.kernel = "none"}).failure().what,
            "'libor' has no kernel 'none'");
  EXPECT_FALSE(analyze_code("/no/such.ptx", machine("tom"), policy("tom")));
  EXPECT_TRUE(contains(analyze_strides("libr").failure().message, "'libor'"));
  EXPECT_FALSE(restructure("not PTX", "text", {.parameter = "0"}));
}

TEST(ApiStudies, DataIsAnalyzedAsByAnalyze) {
  const Program kmeans = value_of(Program::workload("kmeans"));
  const MappingAnalysis mappings =
      value_of(analyze_mappings(kmeans, machine("tom"), policy("ndp-controlled-bmap")));
  EXPECT_EQ(Json::parse(mappings.document), written({"analyze", "kmeans", "--mappings"}));
  EXPECT_GT(mappings.instances, 0u);
  const SharingAnalysis sharing = value_of(analyze_sharing(kmeans, machine("coda")));
  EXPECT_EQ(Json::parse(sharing.document), written({"analyze", "kmeans", "--sharing"}));
  uint64_t pages = 0;
  for (const auto& [blocks, count] : sharing.by_blocks) pages += count;
  EXPECT_EQ(pages, sharing.pages);
  const ObjectAnalysis objects = value_of(analyze_objects(kmeans, machine("coda"), policy("coda")));
  EXPECT_EQ(Json::parse(objects.document), written({"analyze", "kmeans", "--objects"}));
  EXPECT_FALSE(objects.objects.empty());
  EXPECT_TRUE(contains(analyze_objects(kmeans, machine("coda"), policy("tom")).failure().message,
                       "places no objects"));
  const auto stopped = analyze_mappings(kmeans, machine("tom"), policy("ndp-controlled-bmap"),
                                        {.progress = [](const Activity&) { return false; }});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.failure().kind, Failure::Kind::kStopped);
}

TEST(ApiStudies, TracesHaveNoCode) {
  const std::string list = NW_SOURCE_DIR "/bench/samples/trace/kernelslist.g";
  const TraceSummary found = value_of(summarize_traces(list));
  ASSERT_FALSE(found.kernels.empty());
  EXPECT_FALSE(found.kernels[0].opcodes.empty());
  const Program program = value_of(Program::load(list));
  const auto failed = analyze_objects(program, machine("coda"), policy("coda"));
  ASSERT_FALSE(failed);
  EXPECT_TRUE(contains(failed.failure().message, why_traces_do_without_code()));
  EXPECT_FALSE(analyze_mappings(program, machine("tom"), policy("ndp-controlled-bmap")));
  EXPECT_FALSE(analyze_code(program, machine("tom"), policy("tom")));
}

TEST(ApiStudies, ProfilesAreThoseOfRun) {
  const Program axpy = value_of(Program::workload("axpy"));
  const ProgramProfile found = value_of(profile_program(axpy, machine("tom")));
  EXPECT_EQ(Json::parse(value_of(profile_document(std::vector{found}, machine("tom")))),
            written({"run", "axpy", "--profile"}));
  EXPECT_EQ(found.all.warp_instructions, axpy.warp_instructions());
  EXPECT_EQ(value_of(found.text()), run_program({"run", "axpy", "--profile"}).out);
  EXPECT_FALSE(profile_document(std::vector{ProgramProfile()}, machine("tom")));
}

TEST(ApiStudies, NetworksAreThoseOfNoc) {
  NetworkOptions options;
  options.size = "4x4";
  options.loads = {0.1, 0.3};
  options.max_periods = 4;
  const NetworkReport found = value_of(measure_network(options));
  const Json document =
      written({"noc", "--size", "4x4", "--rate", "0.1,0.3", "--max-periods", "4"});
  ASSERT_EQ(found.loads.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(found.loads[i].latency, document["points"][i]["latency"]);
    EXPECT_EQ(found.loads[i].accepted, document["points"][i]["accepted"]);
  }
  options.topology = "mash";
  EXPECT_TRUE(contains(measure_network(options).failure().message, "did you mean 'mesh'"));
  for (const NetworkOptions& wrong : {NetworkOptions{.period_cycles = 0},
                                      {.loads = {2.0}},
                                      {.latency_limit = 0},
                                      {.backend = "gpu"},
                                      {.vcs = 0}})
    EXPECT_EQ(measure_network(wrong).failure().kind, Failure::Kind::kUsage)
        << wrong.period_cycles << wrong.latency_limit << wrong.backend << wrong.vcs;
  options = {.reply_flits = 5};
  EXPECT_TRUE(check(options)) << "a virtual network for answers";
}

TEST(ApiStudies, MemoriesAreThoseOfDram) {
  const MemoryStandard standard = value_of(MemoryStandard::load("ddr3-1600k"));
  const MemoryReport found = value_of(measure_memory(
      std::vector<MemoryPoint>{{standard, {{.pattern = "random", .rate_ppm = 200'000}}},
                               {standard, {{.pattern = "strided", .stride_bytes = 128}}}},
      {.cycles = 20'000}));
  ASSERT_EQ(found.results.size(), 2u);
  const Json random =
      written({"dram", "--traffic", "random", "--rate", "0.2", "--cycles", "20000"});
  EXPECT_EQ(found.results[0].reads, random["runs"][0]["commands"]["reads"]) << random["runs"][0];
  EXPECT_TRUE(found.results[1].ended);
  EXPECT_GT(found.results[1].row_hit_rate, found.results[0].row_hit_rate);
  const auto odd = measure_memory(
      std::vector<MemoryPoint>{{standard, {{.pattern = "strided", .stride_bytes = 100}}}});
  EXPECT_TRUE(contains(odd.failure().message, "a multiple of the 64 bytes"));
  EXPECT_FALSE(measure_memory(std::vector<MemoryPoint>{{standard, {}}}));
  EXPECT_FALSE(measure_memory(std::vector<MemoryPoint>{{standard, {{.pattern = "trace"}}}}));
  EXPECT_FALSE(MemoryStandard::load("ddr99"));
}

TEST(ApiStudies, MachinesAreProbedAsByProbe) {
  const ProbeReport found = value_of(probe_machine(machine("gtx480")));
  EXPECT_EQ(Json::parse(found.document), written({"probe", "--machine", "gtx480"}));
  EXPECT_FALSE(found.stopped());
  ASSERT_FALSE(found.sections.empty());
  EXPECT_TRUE(found.sections[0].latencies);
  EXPECT_GT(found.sections[0].values[0].core_cycles, 1);
  const ProbeReport stopped = value_of(
      probe_machine(machine("gtx480"), {.progress = [](const Activity&) { return false; }}));
  EXPECT_TRUE(stopped.stopped());
}

TEST(ApiStudies, AreasAreThoseOfArea) {
  const AreaReport found = value_of(estimate_area());
  EXPECT_EQ(found.text, run_program({"area"}).out);
  EXPECT_EQ(Json::parse(found.document), written({"area"}));
  double dram = 0;
  for (const AreaPart& part : found.parts) dram += part.logic_die ? 0 : part.share;
  EXPECT_NEAR(dram, found.dram_share, 1e-12);
  EXPECT_FALSE(estimate_area({.machine = "tom"}));
}

}  // namespace
}  // namespace nearwarp::testing
