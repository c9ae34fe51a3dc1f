// Whose count of registers do a module's kernels get, as it is asked for?
#include "host/functional/cudart/code/register_counts.h"

#include <gtest/gtest.h>
#include <stdlib.h>  // setenv

#include <filesystem>
#include <fstream>

#include "host/core/error.h"
#include "host/core/temporary_folder.h"
#include "host/functional/cudart/code/ptxas.h"
#include "tests/cudart/library.h"

namespace nearwarp::cudart {
namespace {

namespace fs = std::filesystem;
using compiler::RegisterSource;
using From = RegisterChoice::From;

FatBinary with_machine_code(const std::string& elf) {
  FatBinary fat;
  fat.images.push_back({read_ptx("kernels.ptx"), {75}});
  fat.machine_code = MachineCode{elf, 75, ""};
  return fat;
}

FatBinary ptx_alone() {
  FatBinary fat;
  fat.images.push_back({read_ptx("kernels.ptx"), {75}});
  return fat;
}

/// A ptxas on $PATH that we play: a shell script.
class PlayedPtxas : public testing::Test {
 protected:
  void SetUp() override {
    old_path_ = getenv("PATH");
    setenv("PATH", (folder_.string() + ":" + old_path_).c_str(), 1);
  }
  void TearDown() override { setenv("PATH", old_path_.c_str(), 1); }
  void play(const std::string& script) {
    const fs::path file = folder_ / "ptxas";
    std::ofstream(file) << "#!/bin/sh\necho \"$@\" >> " << (folder_ / "calls").string() << "\n"
                        << script << "\n";
    fs::permissions(file, fs::perms::owner_all);
  }
  /// Makes the script stand for ptxas and give one of the tests' cubins. It is called with the
  /// words -arch=sm_75 -o OUT IN.
  void play_answer(const std::string& cubin) {
    play("grep -q 'entry vector_add' \"$4\" || exit 1\ncp " NW_SOURCE_DIR "/tests/cudart/cubins/" +
         cubin + " \"$3\"");
  }
  size_t calls() const {
    std::ifstream in(folder_ / "calls");
    size_t n = 0;
    for (std::string line; std::getline(in, line);) ++n;
    return n;
  }
  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
  std::string old_path_;
};

TEST(RegisterChoice, Texts) {
  EXPECT_EQ(parse_registers("").from, From::kAuto);
  EXPECT_EQ(parse_registers("auto").from, From::kAuto);
  EXPECT_EQ(parse_registers("own").from, From::kOwn);
  EXPECT_EQ(parse_registers("ptxas").from, From::kPtxas);
  EXPECT_EQ(parse_registers("ptxas").architecture, "");
  EXPECT_EQ(parse_registers("ptxas:sm_90a").architecture, "sm_90a");
  for (const char* wrong : {"nvcc", "ptxas:", "ptxas:75", "ptxas:sm_", "ptxas:sm_7", "ptxas:sm_75x",
                            "ptxas:sm_75; ls", "Own"})
    EXPECT_THROW(parse_registers(wrong), Error) << wrong;
}

TEST(RegisterCounts, MachineCodeThatIsThere) {
  const FatBinary fat = with_machine_code(read_cubin_file("kernels.sm_75.cubin"));
  const RegisterCounts counts = count_registers({}, fat, "");
  EXPECT_EQ(counts.source, RegisterSource::kCubin);
  EXPECT_EQ(counts.architecture, 75u);
  EXPECT_EQ(counts.per_thread.at("use_variables"), 16u);
  EXPECT_EQ(counts.problem, "");
  EXPECT_EQ(count_registers({From::kOwn, {}}, fat, "").source, RegisterSource::kOwn);
  EXPECT_EQ(count_registers({}, ptx_alone(), "").source, RegisterSource::kOwn);
  EXPECT_EQ(count_registers({}, ptx_alone(), "").problem, "") << "nobody asked for more";
}

TEST(RegisterCounts, MachineCodeThatIsNotLinkedCountsNothing) {
  const FatBinary fat = with_machine_code(read_cubin_file("calls.unlinked.sm_75.cubin"));
  EXPECT_EQ(count_registers({}, fat, "").source, RegisterSource::kOwn);
}

TEST(RegisterCounts, DamagedMachineCodeIsSaid) {
  const RegisterCounts counts = count_registers({},
                                                with_machine_code("\x7f"
                                                                  "ELF"),
                                                "");
  EXPECT_EQ(counts.source, RegisterSource::kOwn);
  EXPECT_NE(counts.problem.find("damaged machine code"), std::string::npos);
  FatBinary fat = with_machine_code("");
  fat.machine_code->problem = "it is wet";
  EXPECT_EQ(count_registers({}, fat, "").problem, "it is wet");
}

TEST(RegisterCounts, KernelsOfTheProgramGetThem) {
  compiler::Program program = compiler::compile_ptx(read_ptx("kernels.ptx"), "kernels.ptx");
  RegisterCounts counts;
  counts.source = RegisterSource::kPtxas;
  counts.architecture = 80;
  counts.per_thread = {{"vector_add", 33}, {"others", 7}};
  set_registers(counts, program);
  const compiler::Kernel* known = program.find("vector_add");
  EXPECT_EQ(compiler::source_text(known->machine_code), "ptxas sm_80");
  EXPECT_EQ(compiler::occupancy_registers(*known, 65536), 33u);
  const compiler::Kernel* unknown = program.find("write_far");
  EXPECT_EQ(compiler::source_text(unknown->machine_code), "own allocation");
  EXPECT_EQ(compiler::occupancy_registers(*unknown, 65536), unknown->num_physical);
}

TEST_F(PlayedPtxas, IsAskedWhereThereIsNoMachineCode) {
  play_answer("kernels.sm_75.cubin");
  const RegisterCounts counts = count_registers({From::kPtxas, {}}, ptx_alone(), "");
  EXPECT_EQ(counts.problem, "");
  EXPECT_EQ(counts.source, RegisterSource::kPtxas);
  EXPECT_EQ(counts.architecture, 75u) << "the PTX's own";
  EXPECT_EQ(counts.per_thread.at("use_variables"), 16u);
  EXPECT_EQ(calls(), 1u);
  const FatBinary both = with_machine_code(read_cubin_file("kernels.sm_75.cubin"));
  EXPECT_EQ(count_registers({From::kPtxas, {}}, both, "").source, RegisterSource::kCubin);
  EXPECT_EQ(count_registers({}, ptx_alone(), "").source, RegisterSource::kOwn);
  EXPECT_EQ(calls(), 1u) << "never unless asked for";
}

TEST_F(PlayedPtxas, IsAskedForAnArchitectureInAnyCase) {
  play_answer("kernels.sm_90.cubin");
  const FatBinary both = with_machine_code(read_cubin_file("kernels.sm_75.cubin"));
  const RegisterCounts counts = count_registers({From::kPtxas, "sm_90a"}, both, "");
  EXPECT_EQ(counts.source, RegisterSource::kPtxas);
  EXPECT_EQ(counts.architecture, 90u);
  EXPECT_EQ(counts.per_thread.at("use_variables"), 18u);
}

TEST_F(PlayedPtxas, AnswersAreKept) {
  play_answer("kernels.sm_75.cubin");
  const fs::path cache = folder_ / "cache";
  fs::create_directory(cache);
  const Ptxas ptxas{find_ptxas(), cache.string()};
  EXPECT_EQ(ptxas.path, (folder_ / "ptxas").string());
  const std::string ptx = read_ptx("kernels.ptx");
  const auto first = ptxas_registers(ptxas, ptx, "sm_75");
  EXPECT_EQ(first.at("vector_add"), 12u);
  EXPECT_EQ(ptxas_registers(ptxas, ptx, "sm_75"), first);
  EXPECT_EQ(calls(), 1u);
  ptxas_registers(ptxas, ptx, "sm_80");
  ptxas_registers(ptxas, ptx + "\n", "sm_75");
  EXPECT_EQ(calls(), 3u) << "another architecture, another module";
  for (const auto& entry : fs::directory_iterator(cache)) {
    std::ofstream file(entry.path(), std::ios::in | std::ios::ate);
    file << "x";
  }
  EXPECT_EQ(ptxas_registers(ptxas, ptx, "sm_75"), first);
  EXPECT_EQ(calls(), 4u) << "damaged ones are not used";
}

TEST_F(PlayedPtxas, ItsFailuresAreSaid) {
  play("echo 'ptxas fatal: no such luck'; echo more; exit 1");
  const RegisterCounts counts = count_registers({From::kPtxas, {}}, ptx_alone(), "");
  EXPECT_EQ(counts.source, RegisterSource::kOwn);
  EXPECT_NE(counts.problem.find("for sm_75: ptxas fatal: no such luck"), std::string::npos)
      << counts.problem;
  EXPECT_EQ(counts.problem.find("more"), std::string::npos) << counts.problem;
  play("exit 0");
  EXPECT_NE(count_registers({From::kPtxas, {}}, ptx_alone(), "").problem.find("it said nothing"),
            std::string::npos);
  FatBinary nowhere = ptx_alone();
  for (const char* text :
       {"", ".version 9.0\n.target a\n", ".version 9.0\n.target texmode_unified\n"}) {
    nowhere.images.front().text = text;
    EXPECT_NE(count_registers({From::kPtxas, {}}, nowhere, "").problem.find("no architecture"),
              std::string::npos)
        << text;
  }
  FatBinary several = ptx_alone();
  several.images.push_back(several.images.front());
  EXPECT_NE(count_registers({From::kPtxas, {}}, several, "").problem.find("one translation unit"),
            std::string::npos);
}

TEST(Ptxas, TargetOfPtx) {
  EXPECT_EQ(target_of(read_ptx("kernels.ptx")), "sm_75");
  EXPECT_EQ(target_of("//\n.version 9.0\n.target sm_90a, debug\n"), "sm_90a");
  EXPECT_EQ(target_of("nothing"), "");
}

/// The toolkit's ptxas answers, if there is one.
TEST(Ptxas, TheRealOneAnswers) {
  const std::string path = find_ptxas();
  if (path.empty()) GTEST_SKIP() << "there is no ptxas";
  const auto registers = ptxas_registers({path, ""}, read_ptx("kernels.ptx"), "sm_75");
  EXPECT_EQ(registers.size(), 5u);
  EXPECT_GT(registers.at("vector_add"), 4u);
  EXPECT_LT(registers.at("vector_add"), 33u);
  EXPECT_THROW(ptxas_registers({path, ""}, ".version 9.0\n.target sm_75\nnonsense", "sm_75"),
               Error);
}

}  // namespace
}  // namespace nearwarp::cudart
