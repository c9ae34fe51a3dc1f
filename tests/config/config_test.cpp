// Do configuration files load, and is everything that is wrong refused with place and advice?
#include "host/config/config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "host/config/nearest.h"
#include "host/config/schema.h"
#include "host/mechanisms/tom/settings.h"
#include "tests/config/texts.h"

namespace nearwarp::config {
namespace {

namespace fs = std::filesystem;

/// A copy of tom.toml with one text replaced, in a folder of its own.
class ConfigFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / (std::string("nearwarp_") + test->name());
    fs::create_directories(folder_ / "machines");
    text_ = read_text(fs::path(NW_SOURCE_DIR) / "configs/machines/tom.toml");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void replace(const std::string& old_text, const std::string& new_text) {
    const size_t at = text_.find(old_text);
    ASSERT_NE(at, std::string::npos) << old_text;
    text_.replace(at, old_text.size(), new_text);
  }
  /// "path:line" of the first line that contains `part`.
  std::string place(const std::string& part) const {
    const size_t at = text_.find(part);
    const auto line = std::count(text_.begin(), text_.begin() + static_cast<long>(at), '\n') + 1;
    return path() + ":" + std::to_string(line);
  }
  std::string path() const { return (folder_ / "machines/changed.toml").string(); }
  std::string error() {
    std::ofstream(path()) << text_;
    return message_of([&] { load_machine(path()); });
  }

  fs::path folder_;
  std::string text_;
};

TEST(Config, EveryShippedFileLoads) {
  ASSERT_GE(machine_names().size(), 2u);
  for (const std::string& name : machine_names()) EXPECT_EQ(load_machine(name).name, name);
  ASSERT_GE(policy_names().size(), 3u);
  for (const std::string& name : policy_names()) EXPECT_EQ(load_policy(name).name, name);
  ASSERT_GE(energy_names().size(), 2u);
  for (const std::string& name : energy_names()) EXPECT_EQ(load_energy(name).name, name);
}

TEST_F(ConfigFile, PathsInAFileBeginInItsFolder) {
  const fs::path configs = fs::path(NW_SOURCE_DIR) / "configs";
  fs::copy(configs / "energy/tom-40nm.toml", folder_ / "mine.toml");
  replace("model = \"tom-40nm\"", "model = \"../mine.toml\"");
  std::ofstream(path()) << text_;
  const MachineConfig machine = load_machine(path());
  EXPECT_EQ(fs::path(machine.energy.path).lexically_normal(), folder_ / "mine.toml");
  EXPECT_EQ(machine.energy_model, "../mine.toml");  // points of sweeps are known by what it says
  // Relative paths on the command line begin in the working directory.
  const std::vector<std::string> set = {"energy.model=../mine.toml"};
  EXPECT_NE(message_of([&] { load_machine(path(), set); }).find("'../mine.toml'"),
            std::string::npos);
  const std::vector<std::string> absolute = {"energy.model=" + (folder_ / "mine.toml").string()};
  EXPECT_EQ(load_machine(path(), absolute).energy.path, (folder_ / "mine.toml").string());
}

TEST(Config, TomHasTheValuesOfTable1) {
  const MachineConfig m = load_machine("tom");
  EXPECT_EQ(m.gpu.sms, 68u);
  EXPECT_EQ(m.gpu.sms_with_ndp + m.stack.count * m.stack.sms, 68u);
  EXPECT_EQ(m.sm.registers, 32768u);
  EXPECT_EQ(m.l2.bytes, 1u << 20);
  EXPECT_EQ(m.stack.vaults * m.stack.tsv_mbps, 160'000u);
  EXPECT_EQ(m.links.gpu_to_memory_mbps, 2 * m.links.memory_to_memory_mbps);
  EXPECT_EQ(m.classes.int_div.latency_cycles, 145u);
  EXPECT_EQ(m.sm.scheduler_policy, "gto");
  EXPECT_TRUE(m.sm.charge_moves);
  EXPECT_EQ(base_mhz(m), 140'000u);
}

TEST(Config, Bench80DiffersFromTomInSmsAndLinksOnly) {
  MachineConfig bench = load_machine("bench80");
  const MachineConfig tom = load_machine("tom");
  EXPECT_EQ(bench.gpu.sms, 80u);
  const auto bench_keys = describe(bench), tom_keys = describe(tom);
  for (size_t i = 0; i < tom_keys.size(); ++i) {
    const std::string& key = tom_keys[i].key;
    if (key == "gpu.sms" || key == "gpu.sms_with_ndp" || key == "machine.description" ||
        key == "links.directions")
      continue;
    EXPECT_EQ(bench_keys[i].value, tom_keys[i].value) << key;
  }
}

TEST(Config, PoliciesDiffer) {
  EXPECT_EQ(load_policy("baseline").mechanism, "none");
  EXPECT_EQ(load_policy("ndp-uncontrolled-bmap").mechanism, "tom");
  EXPECT_FALSE(load_policy("ndp-uncontrolled-bmap").table<tom::OffloadSettings>().dynamic_control);
  EXPECT_TRUE(load_policy("ndp-controlled-bmap").table<tom::OffloadSettings>().dynamic_control);
}

TEST(Config, UnknownNamesGetASuggestion) {
  expect_contains(message_of([] { load_machine("tmo"); }),
                  "unknown machine 'tmo' - did you mean 'tom'?");
  expect_contains(message_of([] { load_policy("ndp-controled-bmap"); }),
                  "did you mean 'ndp-controlled-bmap'?");
  expect_contains(message_of([] { load_machine("/nowhere/x.toml"); }), "/nowhere/x.toml");
}

TEST(Config, AMachineBringsItsEnergyFile) {
  const MachineConfig m = load_machine("tom");
  EXPECT_EQ(m.energy.name, "tom-40nm");
  EXPECT_EQ(m.energy.technology_nm, 40u);
  // TOM, section 5.1.
  EXPECT_EQ(m.energy.links.transfer_fj_per_bit, 2000u);
  EXPECT_EQ(m.energy.links.idle_fj_per_bit, 1500u);
  EXPECT_EQ(m.energy.dram.activation_fj, 11'800'000u);
  EXPECT_EQ(m.energy.dram.activation_row_bytes, m.dram.row_bytes);
  EXPECT_EQ(m.energy.dram.read_fj_per_bit, 4000u);
}

TEST(Config, MpuHasTheValuesOfTable2) {
  const EnergyConfig e = load_energy("mpu-20nm");
  EXPECT_EQ(e.technology_nm, 20u);
  EXPECT_EQ(e.dram.read_fj_per_bit, 150'000u / 256 + 1);  // 0.15 nJ, 256 bits, rounded
  EXPECT_EQ(e.dram.write_fj_per_bit, e.dram.read_fj_per_bit);
  EXPECT_EQ(e.dram.activation_fj, 270'000u);
  EXPECT_EQ(e.dram.precharge_fj, 270'000u);
  EXPECT_EQ(e.dram.refresh_fj, 1'130'000u);
  EXPECT_EQ(32 * e.sm.register_read_fj, 40'000u);
  EXPECT_EQ(32 * e.sm.register_write_fj, 40'000u);
  EXPECT_EQ(e.sm.shared_fj, 22'200u);
  EXPECT_EQ(e.sm.operands_fj, 41'490u);
  EXPECT_EQ(e.sm.lsu_fj, 39'670u);
  EXPECT_EQ(e.dram.tsv_fj_per_bit, 4530u);
  EXPECT_EQ(e.network.sm_wire_fj_per_bit, 720u);
  EXPECT_EQ(e.links.transfer_fj_per_bit, 4500u);
}

TEST(Config, EnergyKeysAreOverriddenThroughTheMachine) {
  const std::vector<std::string> changes = {"energy.model=mpu-20nm",
                                            "energy.links.idle_fj_per_bit=7"};
  const MachineConfig m = load_machine("tom", changes);
  EXPECT_EQ(m.energy.name, "mpu-20nm");
  EXPECT_EQ(m.energy.links.idle_fj_per_bit, 7u);
  EXPECT_EQ(m.energy.links.transfer_fj_per_bit, 4500u);
  EXPECT_NO_THROW(load_policy("baseline", changes));
  const auto whole = describe_whole(m);
  EXPECT_EQ(whole.size(), describe(m).size() + describe(m.energy).size());
}

TEST(Config, WrongEnergyIsRefusedWithPlaceAndAdvice) {
  const auto error_of = [](const std::string& change) {
    return message_of([&] { load_machine("tom", std::vector<std::string>{change}); });
  };
  expect_contains(error_of("energy.model=tom-40mn"),
                  "unknown energy model 'tom-40mn' - did you mean 'tom-40nm'? (energy.model, "
                  "`set` energy.model=tom-40mn)");
  expect_contains(error_of("energy.links.idel_fj_per_bit=1"),
                  "did you mean 'energy.links.idle_fj_per_bit'?");
  expect_contains(error_of("energy.dram.refresh_fj=-1"), "energy.dram.refresh_fj cannot be -1");
  expect_contains(error_of("energy.dram.activation_row_bytes=0"), "1 to 1048576");
}

TEST_F(ConfigFile, AnEnergyFileThatIsNotThere) {
  replace("model = \"tom-40nm\"", "model = \"tom-45nm\"");
  const std::string place_of_key = place("tom-45nm\"");
  expect_contains(error(),
                  "unknown energy model 'tom-45nm' - did you mean 'tom-40nm'? "
                  "(energy.model, " +
                      place_of_key + ")");
}

TEST_F(ConfigFile, WrongKeysOfAnEnergyFile) {
  const std::string file = (folder_ / "mine.toml").string();
  const std::string text = read_text(fs::path(NW_SOURCE_DIR) / "configs/energy/tom-40nm.toml");
  const auto error_with = [&](const std::string& old_text, const std::string& new_text) {
    std::string changed = text;
    const size_t at = changed.find(old_text);
    EXPECT_NE(at, std::string::npos) << old_text;
    std::ofstream(file) << changed.replace(at, old_text.size(), new_text);
    return message_of([&] { load_energy(file); });
  };
  EXPECT_EQ(error_with("refresh_fj", "refresh_fj"), "");
  expect_contains(error_with("refresh_fj", "refresh_pj"), "did you mean 'energy.dram.refresh_fj'?");
  expect_contains(error_with("refresh_fj = ", "refresh_fj = -"), "cannot be -188800000");
  expect_contains(error_with("sm_uw = 1_590_000", "sm_uw = 1.59"), "floating-point");
  expect_contains(error_with("sm_uw = 1_590_000", ""), "missing key 'energy.leakage.sm_uw'");
}

TEST_F(ConfigFile, UnchangedLoads) { EXPECT_EQ(error(), ""); }

TEST_F(ConfigFile, UnknownKey) {
  replace("ways = 4 ", "wayz = 4 ");
  const std::string place_of_key = place("wayz");
  expect_contains(error(),
                  "unknown key 'l1.wayz' (" + place_of_key + ") - did you mean 'l1.ways'?");
}

TEST_F(ConfigFile, UnknownKeyInAnInlineTable) {
  replace("int_div = { latency_cycles", "int_div = { latency_cycle");
  expect_contains(error(), "did you mean 'sm.classes.int_div.latency_cycles'?");
}

TEST_F(ConfigFile, UnknownSection) {
  replace("[links]", "[link]");
  const std::string place_of_section = place("[link]");
  expect_contains(error(),
                  "unknown section 'link' (" + place_of_section + ") - did you mean 'links'?");
}

TEST_F(ConfigFile, MissingKey) {
  replace("hit_latency_cycles = 35", "# gone");
  const std::string place_of_section = place("[l1]");
  expect_contains(error(), "missing key 'l1.hit_latency_cycles' (" + place_of_section + ")");
}

TEST_F(ConfigFile, WrongTypes) {
  replace("core_mhz = 1400", "core_mhz = 1400.0");
  expect_contains(error(), "clocks.core_mhz cannot be a floating-point number (" +
                               place("core_mhz") + ") - allowed: 1 to 100000, in MHz");
  replace("core_mhz = 1400.0", "core_mhz = \"fast\"");
  expect_contains(error(), "cannot be a text");
  replace("core_mhz = \"fast\"", "core_mhz = 1400");
  replace("charge_moves = true", "charge_moves = 1");
  expect_contains(error(), "sm.charge_moves cannot be an integer");
  replace("charge_moves = 1", "charge_moves = true");
  replace("[links]", "links = 3\n[links2]");
  EXPECT_NE(error(), "");
}

TEST_F(ConfigFile, ImpossibleValues) {
  replace("warps = 48 ", "warps = 0 ");
  expect_contains(error(), "sm.warps cannot be 0 (" + place("warps = 0") + ") - allowed: 1 to 64");
  replace("warps = 0 ", "warps = -5 ");
  expect_contains(error(), "sm.warps cannot be -5");
  replace("warps = -5 ", "warps = 99999999999 ");
  expect_contains(error(), "sm.warps cannot be 99999999999");
  replace("warps = 99999999999 ", "warps = 48 ");
  replace("vaults = 16", "vaults = 15");
  expect_contains(error(), "a power of two");
  replace("vaults = 15", "vaults = 16");
  replace("\"gto\"", "\"oldest\"");
  expect_contains(error(), "sm.scheduler_policy cannot be \"oldest\"");
  expect_contains(error(), "\"gto\" or \"lrr\"");
}

TEST_F(ConfigFile, NotToml) {
  replace("[sm]", "[sm");
  expect_contains(error(), "not valid TOML (" + place("[sm\n"));
}

TEST_F(ConfigFile, NamesWithoutEnd) {
  // Tables in tables 100,000 deep had overflowed the stack.
  text_ = "\n";
  for (int i = 0; i < 100'000; ++i) text_ += "a.";
  text_ += "a = 1\n";
  expect_contains(error(), "not valid TOML (" + path() + ":2): a name has more than 1000 parts");
}

TEST_F(ConfigFile, TruncatedFile) {
  text_.resize(text_.find("[dram]"));
  expect_contains(error(), "missing key 'dram.standard'");
}

TEST_F(ConfigFile, EmptyFile) {
  text_.clear();
  expect_contains(error(), "missing key 'machine.description' (" + path() + ":1)");
}

TEST_F(ConfigFile, RuleBetweenKeysNamesThePlace) {
  replace("sms = 68 ", "sms = 67 ");
  expect_contains(error(), "gpu.sms is 67 (" + place("sms = 67") +
                               ") - it must be a multiple of gpu.sms_per_cluster, 4");
}

TEST_F(ConfigFile, FoundByNameOnTheConfigPath) {
  std::ofstream(path()) << text_;
  ASSERT_EQ(setenv("NEARWARP_CONFIG_PATH", ("/nowhere:" + folder_.string()).c_str(), 1), 0);
  EXPECT_EQ(load_machine("changed").path, path());
  const auto names = machine_names();
  EXPECT_NE(std::find(names.begin(), names.end(), "changed"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "tom"), names.end());
  unsetenv("NEARWARP_CONFIG_PATH");
}

TEST_F(ConfigFile, AFolderIsNoFile) {
  EXPECT_NE(message_of([&] { load_machine(folder_.string() + "/"); }), "");
}

/// The timings of tom with these overrides, in the order of the documentation.
std::vector<uint32_t> timings(const std::vector<std::string>& overrides) {
  const MachineConfig::Dram d = load_machine("tom", overrides).dram;
  return {d.tCL, d.tCWL, d.tRCD, d.tRP,  d.tRAS,  d.tRC,  d.tRRD,   d.tFAW,   d.tCCD,
          d.tWR, d.tWTR, d.tRTP, d.tRTW, d.tREFI, d.tRFC, d.tRRD_L, d.tCCD_L, d.tWTR_L};
}

TEST(VaultStandard, TomHasThoseOfDdr3) {
  EXPECT_EQ(load_machine("tom").dram.standard, "hmc-vault");
  // JESD79-3F, DDR3-1600K of 4 Gb with pages of 1 KB: cycles of 1.25 ns.
  EXPECT_EQ(timings({}), (std::vector<uint32_t>{11, 8, 11, 11, 28, 39, 5, 24, 4, 12, 6, 6, 9, 6240,
                                                208, 5, 4, 6}));
}

TEST(VaultStandard, SingleTimingsAreOverridden) {
  std::vector<uint32_t> expected = timings({});
  expected[0] = 13;
  EXPECT_EQ(timings({"dram.tCL=13"}), expected);
  EXPECT_EQ(timings({"dram.tCL=13", "dram.standard=\"ddr3-1600k\""}), expected);
}

TEST(VaultStandard, AnotherOneBringsItsTimings) {
  const DramConfig d = load_dram("hbm1");
  const std::string clock = "clocks.dram_mhz=" + std::to_string(d.speed.clock_mhz);
  const MachineConfig::Dram m =
      load_machine("tom", std::vector<std::string>{"dram.standard=hbm1", clock}).dram;
  EXPECT_EQ(m.standard, "hbm1");
  EXPECT_EQ(m.tCL, d.timing.tCL);
  EXPECT_EQ(m.tRRD, d.timing.tRRD_S);
  EXPECT_EQ(m.tWTR_L, d.timing.tWTR_L);
  EXPECT_EQ(m.tRFC, d.timing.tRFC);
}

TEST_F(ConfigFile, AStandardAndTimingsAreTooMuch) {
  replace("standard = \"hmc-vault\"", "standard = \"hmc-vault\"\ntRCD = 11");
  expect_contains(error(), "dram.tRCD (" + place("tRCD") +
                               ") is given besides dram.standard 'hmc-vault' (" +
                               place("standard =") + ")");
  replace("standard = \"hmc-vault\"\ntRCD = 11", "standard = \"none\"\ntRCD = 11");
  expect_contains(error(), "missing key 'dram.tCL'");
}

TEST_F(ConfigFile, AStandardCountsItsOwnCycles) {
  replace("dram_mhz = 800", "dram_mhz = 900");
  const std::string message = error();
  expect_contains(message, "clocks.dram_mhz is 900 (" + place("dram_mhz") +
                               "), but dram.tCL, dram.tCWL and 16 more count cycles of 800 MHz");
  expect_contains(message, "dram.standard 'hmc-vault', " + place("standard ="));
}

TEST(Overrides, TheLastOneWins) {
  const std::vector<std::string> texts = {"l1.ways=8",
                                          "l1.set_function=linear",
                                          "l1.bytes = 0x1_0000",
                                          "l1.ways=4",
                                          "sm.scheduler_policy=lrr",
                                          "sm.charge_moves=false",
                                          "offload.dynamic_control=true"};
  const MachineConfig m = load_machine("tom", texts);
  EXPECT_EQ(m.l1.ways, 4u);
  EXPECT_EQ(m.l1.bytes, 65536u);
  EXPECT_EQ(m.sm.scheduler_policy, "lrr");
  EXPECT_FALSE(m.sm.charge_moves);
  EXPECT_TRUE(
      load_policy("ndp-uncontrolled-bmap", texts).table<tom::OffloadSettings>().dynamic_control);
}

TEST(Overrides, NumbersAsTomlHasThem) {
  for (const char* text : {"65536", "65_536", "0x10000", "0o200000", "0b1_0000_0000_0000_0000"})
    EXPECT_EQ(
        load_machine("tom", std::vector<std::string>{std::string("sm.shared_memory_bytes=") + text})
            .sm.shared_memory_bytes,
        65536u);
  for (const char* text : {"0x", "x10", "0xg", "1.5", "0x-1", "", "0b2", "_65536", "65536_",
                           "65__536", "0x_10000", "0x10000_", "0b_10000000000000000"})
    EXPECT_THROW(
        load_machine("tom",
                     std::vector<std::string>{std::string("sm.shared_memory_bytes=") + text}),
        Error)
        << text;
}

TEST(Overrides, AConstantCacheHasWholeSetsOfLinesThatTheL1sHold) {
  const auto error = [](const std::vector<std::string>& texts) -> std::string {
    try {
      load_machine("tom", texts);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(error({"constant_cache.bytes=8192"}), "");
  expect_contains(error({"constant_cache.bytes=8000"}), "constant_cache.bytes");
  expect_contains(error({"constant_cache.bytes=8192", "constant_cache.line_bytes=256"}),
                  "at most l1.line_bytes = 128");
  EXPECT_EQ(error({"constant_cache.line_bytes=256"}), "");  // the machine has no constant cache
}

TEST(Overrides, KeysOfTheOtherKindAreLeftAlone) {
  MachineConfig machine = load_machine("tom");
  PolicyConfig policy = load_policy("baseline");
  EXPECT_FALSE(apply_override(machine, "offload.busy_threshold_percent=50"));
  EXPECT_TRUE(apply_override(policy, "offload.busy_threshold_percent=50"));
  EXPECT_EQ(policy.table<tom::OffloadSettings>().busy_threshold_percent, 50u);
  EXPECT_TRUE(apply_override(machine, "offload.dirty_entries=8"));
  EXPECT_FALSE(apply_override(policy, "offload.dirty_entries=8"));
}

TEST(Overrides, Errors) {
  expect_contains(override_error("l1.wais=4"),
                  "unknown key 'l1.wais' (`set` l1.wais=4) - did you mean 'l1.ways'?");
  expect_contains(override_error("dram.standard=ddr3-1600"), "did you mean 'ddr3-1600k'?");
  expect_contains(override_error("dram.standard=gddr5"), "count cycles of");
  expect_contains(override_error("l1.ways=four"), "l1.ways cannot be 'four' (`set` l1.ways=four)");
  expect_contains(override_error("l1.ways=4.5"), "cannot be '4.5'");
  expect_contains(override_error("l1.ways="), "cannot be ''");
  expect_contains(override_error("l1.ways"), "write key=value");
  expect_contains(override_error("=4"), "write key=value");
  expect_contains(override_error("l1.ways=99999999999999999999"), "cannot be");
  expect_contains(override_error("sm.charge_moves=yes"), "true or false");
  expect_contains(override_error("dram.tRC=1"), "dram.tRC is 1 (`set` dram.tRC=1)");
}

TEST(Overrides, LatenciesMustFitTheirTicks) {
  // The base clock is 1,999,000 MHz, so 100,000 cycles of 1 MHz are more than 2^31 ticks.
  const std::vector<std::string> texts = {
      "clocks.core_mhz=1999", "clocks.interconnect_mhz=1",    "clocks.l2_mhz=1",
      "clocks.dram_mhz=1000", "dram.other_clock=keep-cycles", "links.latency_cycles=100000"};
  const std::string message = message_of([&] { load_machine("tom", texts); });
  expect_contains(message, "links.latency_cycles is 100000 (`set` links.latency_cycles=100000)");
  const std::vector<std::string> halves = {
      "clocks.core_mhz=1999", "clocks.interconnect_mhz=1",    "clocks.l2_mhz=1",
      "clocks.dram_mhz=1000", "dram.other_clock=keep-cycles", "l2.link_latency_cycles=10000"};
  expect_contains(message_of([&] { load_machine("discrete16", halves); }),
                  "l2.link_latency_cycles is 10000 (`set` l2.link_latency_cycles=10000)");
}

TEST(Overrides, UsageErrorsAreOfTheirOwnType) {
  EXPECT_THROW(load_machine("tom", std::vector<std::string>{"nonsense.key=1"}), UsageError);
  EXPECT_THROW(load_machine("tom", std::vector<std::string>{"nonsense"}), UsageError);
}

/// Rules between keys, each broken by one override.
class BrokenRule : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(BrokenRule, IsReportedAtItsKey) {
  const auto [override_text, key] = GetParam();
  const std::string message = override_error(override_text);
  EXPECT_EQ(message.rfind(key, 0), 0u) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Config, BrokenRule,
    ::testing::Values(
        std::pair{"gpu.sms=66", "gpu.sms"}, std::pair{"gpu.sms_with_ndp=63", "gpu.sms_with_ndp"},
        std::pair{"gpu.sms=1020", "gpu.sms"}, std::pair{"gpu.sms=132", "gpu.sms"},
        std::pair{"gpu.sms_with_ndp=256", "gpu.sms_with_ndp"},
        std::pair{"run.max_cycles=4294967296", "run.max_cycles"},
        std::pair{"packets.sector_bytes=64", "packets.sector_bytes"},
        std::pair{"sm.register_unit=2048", "sm.registers"}, std::pair{"l1.bytes=32000", "l1.bytes"},
        std::pair{"l1.ways=3", "l1.bytes"}, std::pair{"l2.bytes=1000000", "l2.bytes"},
        std::pair{"l1.sectors=true", "l1.sectors"},
        std::pair{"l1.write_policy=local-back", "l1.write_policy"},
        std::pair{"l1.mshr_entries=65", "l1.mshr_entries"},
        std::pair{"l1.allocate=fill", "l1.allocate"}, std::pair{"l2.sectors=true", "l2.sectors"},
        std::pair{"l2.write_policy=back", "l2.write_policy"},
        std::pair{"l2.write_miss=fetch", "l2.write_miss"},
        std::pair{"l2.sectors_per_cycle=1", "l2.sectors_per_cycle"},
        std::pair{"l2.slices=2", "l2.slices"}, std::pair{"l2.slices=128", "l2.slices"},
        std::pair{"packets.sector_bytes=256", "packets.sector_bytes"},
        std::pair{"dram.queue_entries=16", "dram.write_high_watermark"},
        std::pair{"dram.write_low_watermark=32", "dram.write_low_watermark"},
        std::pair{"dram.tRAS=10", "dram.tRAS"}, std::pair{"dram.tRC=38", "dram.tRC"},
        std::pair{"dram.tFAW=4", "dram.tFAW"}, std::pair{"dram.tREFI=208", "dram.tREFI"},
        std::pair{"interconnect.channel_latency_cycles=0", "interconnect.channel_latency_cycles"}));

TEST_F(ConfigFile, OptionalKeysMayBeMissing) {
  // tom's file does not have the keys.
  EXPECT_EQ(text_.find("[stack_sm]"), std::string::npos);
  const MachineConfig m = load_machine("tom", std::vector<std::string>{"stack_sm.clock_mhz=700"});
  EXPECT_EQ(m.stack_sm.clock_mhz, 700u);
  EXPECT_EQ(load_machine("tom").stack_sm.clock_mhz, 0u);
  EXPECT_EQ(override_error("stack_sm.l1_bytes=30000").rfind("stack_sm.l1_bytes", 0), 0u);
  // tom's hash is of 32 or 64 sets, those of the stack SMs' L1 included.
  expect_contains(override_error("stack_sm.l1_bytes=512"), "choose xor or linear");
  expect_contains(override_error("l1.bytes=8192"), "not 16 of 128");
}

TEST(Validate, RefusesValuesThatNoFileSet) {
  MachineConfig m = load_machine("tom");
  EXPECT_NO_THROW(validate(m, "here"));
  m.l1.ways = 0;
  expect_contains(message_of([&] { validate(m, "here"); }), "l1.ways cannot be 0 (here)");
}

TEST(Nearest, EditDistance) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("tmo", "tom"), 1u);  // neighbours swapped
  EXPECT_EQ(edit_distance("same", "same"), 0u);
}

TEST(Nearest, SeveralNames) {
  const std::vector<std::string> names = {"bfs-rmat", "bfs-uniform", "bfs-original", "sssp"};
  using Names = std::vector<std::string>;
  EXPECT_EQ(nearest_names("bfs", names, 2), (Names{"bfs-rmat", "bfs-uniform"}));
  EXPECT_EQ(nearest_names("bfs-orignal", names, 2), (Names{"bfs-original"}));
  EXPECT_EQ(nearest_names("ssp", names, 2), (Names{"sssp"}));
  EXPECT_EQ(nearest_names("xyzzy", names, 2), Names{});
  EXPECT_EQ(did_you_mean("bfs", names, 2), "did you mean 'bfs-rmat' or 'bfs-uniform'? ");
  EXPECT_EQ(did_you_mean("ssp", names, 2), "did you mean 'sssp'? ");
  EXPECT_EQ(did_you_mean("xyzzy", names, 2), "");
}

TEST(Nearest, NothingNearGivesTheList) {
  EXPECT_EQ(suggestion("xyzzy", {"tom", "bench80"}), " - valid: tom, bench80");
  EXPECT_EQ(suggestion("bench8", {"tom", "bench80"}), " - did you mean 'bench80'?");
}

}  // namespace
}  // namespace nearwarp::config
