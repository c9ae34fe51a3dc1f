// Are the tables of keys complete, within their ranges, and documented?
#include "host/config/schema.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/config/texts.h"

namespace nearwarp::config {
namespace {

TEST(Schema, EveryNumberRefusesWhatIsJustOutsideOfItsRange) {
  for (const Key<MachineConfig>& key : machine_keys()) {
    MachineConfig m = load_machine("tom");
    if (!std::holds_alternative<uint32_t*>(key.member(m))) continue;
    const std::string path(key.path);
    EXPECT_THROW(apply_override(m, path + "=" + std::to_string(key.max + 1)), Error) << path;
    EXPECT_THROW(apply_override(m, path + "=-1"), Error) << path;
    if (key.min > 0) {
      EXPECT_THROW(apply_override(m, path + "=" + std::to_string(key.min - 1)), Error) << path;
    }
    EXPECT_NO_THROW(apply_override(m, path + "=" + std::to_string(key.min))) << path;
  }
}

TEST(Schema, PathsAreUniqueAndDocumented) {
  std::vector<std::string> paths;
  for (const Key<MachineConfig>& key : machine_keys()) paths.emplace_back(key.path);
  for (const Key<PolicyConfig>& key : policy_keys()) paths.emplace_back(key.path);
  for (const Key<EnergyConfig>& key : energy_keys()) paths.emplace_back(key.path);
  for (const Key<AreaConfig>& key : area_keys()) paths.emplace_back(key.path);
  std::sort(paths.begin(), paths.end());
  EXPECT_EQ(std::adjacent_find(paths.begin(), paths.end()), paths.end());
  for (const Key<MachineConfig>& key : machine_keys()) EXPECT_FALSE(key.doc.empty()) << key.path;
}

TEST(Schema, EveryKeyIsInTheDocumentationWithUnitRangeAndMeaning) {
  const std::string text =
      read_text(std::filesystem::path(NW_SOURCE_DIR) / "docs/configuration.md");
  std::vector<KeyDescription> all = describe_whole(load_machine("tom"));
  for (const Key<PolicyConfig>& key : policy_keys()) {
    PolicyConfig policy;
    const std::string value = value_text(key.member(policy));
    all.push_back(
        {std::string(key.path), value, std::string(key.unit), std::string(key.doc), allowed(key)});
  }
  for (KeyDescription& row : describe(load_area("mpu-20nm"))) all.push_back(std::move(row));
  for (const auto& [machine, section] : {std::pair{"opportunistic", "partitions."},
                                         {"opportunistic", "mesh."},
                                         {"mpu", "near_bank."},
                                         {"coda", "links.topology"},
                                         {"coda", "l2.at_launch"},
                                         {"coda", "l2.atomics"},
                                         {"gtx480", "memory.local_memory"},
                                         {"h100", "gpu.gpcs"},
                                         {"h100", "gpu.sms_per_tpc"},
                                         {"h100", "lsu.remote_shared_bytes"},
                                         {"h100", "l2.link_"}})
    for (KeyDescription& row : describe(load_machine(machine)))
      if (row.key.starts_with(section)) all.push_back(std::move(row));
  for (const KeyDescription& row : all) {
    expect_contains(
        text, "| `" + row.key + "` | " + row.unit + " | " + row.range + " | " + row.doc + " |\n");
  }
  size_t rows = 0;
  for (size_t at = text.find("\n| `"); at != std::string::npos; at = text.find("\n| `", at + 1)) {
    ++rows;
  }
  EXPECT_EQ(rows, all.size()) << "docs/configuration.md has rows of keys that do not exist";
}

TEST(Schema, TextsAreWrittenAsTomlOnOneLine) {
  std::string text = "a \"b\" \\ c\n\td\r\x7f \xc3\xa9";
  EXPECT_EQ(value_text(&text), "\"a \\\"b\\\" \\\\ c\\n\\td\\u000d\\u007f \xc3\xa9\"");
}

TEST(Schema, EveryMemberOfTheStructureHasAKey) {
  // Members default to zero; the shipped machine has no zero in these parts, so a zero word would
  // be a member without a key.
  const MachineConfig m = load_machine("tom");
  const auto* words = reinterpret_cast<const uint32_t*>(&m.classes);
  for (size_t i = 0; i < sizeof(m.classes) / 4; ++i) EXPECT_NE(words[i], 0u) << "class word " << i;
  const auto* timings = reinterpret_cast<const uint32_t*>(&m.dram.tCL);
  for (size_t i = 0; i < 18; ++i) EXPECT_NE(timings[i], 0u) << "timing word " << i;
}

TEST(Schema, EveryEnergyValueHasAKey) {
  size_t numbers = 0;
  EnergyConfig e;
  for (const Key<EnergyConfig>& key : energy_keys())
    numbers += std::holds_alternative<uint64_t*>(key.member(e)) ? 1 : 0;
  EXPECT_EQ(numbers * sizeof(uint64_t), sizeof(e.sm) + sizeof(e.l2) + sizeof(e.network) +
                                            sizeof(e.links) + sizeof(e.dram) + sizeof(e.leakage) +
                                            sizeof(e.board_uw));
}

}  // namespace
}  // namespace nearwarp::config
