// Does a policy have the keys of its own mechanisms, and no others?
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "host/config/mechanism.h"
#include "host/mechanisms/tom/settings.h"
#include "tests/config/texts.h"

namespace nearwarp::config {
namespace {

constexpr const char* kHead = "[policy]\ndescription = \"\"\nmapping = \"bmap\"\nmechanism = ";

/// The message when a policy file is loaded that has this text behind its mapping.
std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const std::string path = testing::TempDir() + "/own.toml";
  std::ofstream(path) << kHead << text;
  return message_of([&] { load_policy(path, overrides); });
}

bool has(const std::vector<KeyDescription>& rows, std::string_view section) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const KeyDescription& row) { return row.key.starts_with(section); });
}

TEST(MechanismKeys, AreThoseOfThePolicysOwn) {
  const auto none = describe(load_policy("baseline")), tom = describe(load_policy("tom")),
             tuned = describe(load_policy("tuned")), both = describe(load_policy("mpu-pages"));
  for (const char* section : {"mapping.", "offload.", "tuning.", "pages.", "chains.", "mpu."})
    EXPECT_FALSE(has(none, section)) << section;
  EXPECT_TRUE(has(none, "dispatch."));
  EXPECT_TRUE(has(tom, "offload.") && has(tom, "mapping."));
  EXPECT_FALSE(has(tom, "tuning."));
  EXPECT_TRUE(has(tom, "offload.decide"));
  EXPECT_TRUE(has(tuned, "tuning.") && has(tuned, "offload."));
  EXPECT_FALSE(has(tuned, "offload.decide"));  // tuned offloading decides by itself
  EXPECT_TRUE(has(both, "mpu.") && has(both, "pages."));
  EXPECT_FALSE(has(both, "offload."));
}

TEST(MechanismKeys, AreWantedWhereTheyAreUsed) {
  EXPECT_EQ(error_of("\"none\"\n"), "");
  EXPECT_EQ(error_of("\"opportunistic\"\n"), "");
  expect_contains(error_of("\"tom\"\n"), "missing key 'offload.dynamic_control'");
  expect_contains(error_of("\"none\"\n", {"policy.mechanism=tom"}),
                  "missing key 'offload.dynamic_control'");
  const std::vector<std::string> all = {"policy.mechanism=tom",
                                        "offload.dynamic_control=true",
                                        "offload.overhead=true",
                                        "offload.load_miss_percent=50",
                                        "offload.load_coalescing_percent=100",
                                        "offload.store_coalescing_percent=100"};
  EXPECT_EQ(error_of("\"none\"\n", all), "");
}

TEST(MechanismKeys, OfOthersAreRefusedAndSayWhose) {
  const std::string in_file = error_of("\"none\"\n\n[offload]\noverhead = true\n");
  expect_contains(in_file, "offload.overhead (");
  expect_contains(in_file, "own.toml:7) is a key of the mechanisms tom and tuning");
  expect_contains(in_file, "this policy's mechanism is \"none\"");
  expect_contains(error_of("\"opportunistic\"\n[pages]\nchunk = \"page\"\n"),
                  "is a key of the mechanism coda");
  const std::string set = error_of("\"none\"\n", {"tuning.adaptation=true"});
  expect_contains(set,
                  "tuning.adaptation (`set` tuning.adaptation=true) is a key of the mechanism "
                  "tuning - policy 'own' has \"none\"");
  expect_contains(error_of("\"none\"\n[ofload]\n"), "unknown section 'ofload'");
}

TEST(MechanismKeys, ServeSeveralPoliciesWithOneOverride) {
  Loader loader;
  const std::vector<std::string> set = {"offload.busy_threshold_percent=50"};
  const PolicyConfig none = loader.policy("baseline", set), tom = loader.policy("tom", set);
  EXPECT_EQ(none.without_effect, set);
  EXPECT_EQ(tom.table<tom::OffloadSettings>().busy_threshold_percent, 50u);
  const PolicyConfig* const both[] = {&none, &tom};
  EXPECT_NO_THROW(refuse_without_effect(both));
  EXPECT_THROW(refuse_without_effect({both, 1}), UsageError);
}

TEST(MechanismKeys, NameMechanismsThatThereAre) {
  expect_contains(error_of("\"opportunistic+mpu\"\n"),
                  "'opportunistic' claims the accesses of an SM's warps");
  for (const char* wrong :
       {"\"tomm\"\n", "\"\"\n", "\"mpu+\"\n", "\"mpu+mpu\"\n", "\"none+mpu\"\n"})
    expect_contains(error_of(wrong), "policy.mechanism cannot be ");
  EXPECT_TRUE(has_mechanism(load_policy("mpu-pages"), "coda"));
  EXPECT_TRUE(mechanisms_of(load_policy("baseline")).empty());
}

TEST(MechanismKeys, MappingsAreTheirsToo) {
  expect_contains(error_of("\"mpu\"\n", {"policy.mapping=cgp"}),
                  "this is a mapping of policy.mechanism = \"coda\"");
  expect_contains(error_of("\"coda\"\n"), "it must be \"cgp\", \"coda\" or \"fta\"");
  EXPECT_EQ(error_of("\"mpu+coda\"\n", {"policy.mapping=cgp"}), "");
}

}  // namespace
}  // namespace nearwarp::config
