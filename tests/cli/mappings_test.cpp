// Does `nearwarp analyze --mappings` say and write what it should?
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/expectations.h"
#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

using Json = nlohmann::json;

uint64_t number(const Json& json, const char* member) {
  EXPECT_TRUE(json.at(member).is_number_unsigned()) << member;
  return json.at(member).get<uint64_t>();
}

uint64_t sum(const Json& numbers) {
  uint64_t total = 0;
  for (const Json& n : numbers) total += n.get<uint64_t>();
  return total;
}

/// Names of all members of all objects in `json`.
void check_quality(const Json& document, const Json& q) {
  const uint64_t instances = number(document, "instances");
  ASSERT_EQ(q.at("stacks_touched").size(), number(document, "stacks"));
  EXPECT_EQ(sum(q.at("stacks_touched")), instances);
  EXPECT_EQ(number(q, "one_stack"), q["stacks_touched"][0].get<uint64_t>());
  EXPECT_LE(number(q, "at_destination"), number(document, "accesses"));
  EXPECT_GE(number(q, "at_destination"), instances);  // the first access is
}

void check_choices(const Json& document) {
  const Json& mappings = document.at("mappings");
  uint64_t best = 0;
  for (const Json& m : mappings) best = std::max(best, number(m, "at_destination"));
  const auto mapping = [&](uint64_t first_bit) {
    for (const Json& m : mappings)
      if (number(m, "first_bit") == first_bit) return m;
    ADD_FAILURE() << "no mapping begins at bit " << first_bit;
    return Json();
  };
  EXPECT_EQ(number(mapping(number(document, "best_first_bit")), "at_destination"), best);
  ASSERT_EQ(document.at("choices").size(), 3u);
  for (const Json& c : document["choices"]) {
    const uint64_t permille = number(c, "permille");
    EXPECT_EQ(number(c, "instances"), (number(document, "instances") * permille + 999) / 1000);
    const Json m = mapping(number(c, "first_bit"));
    EXPECT_EQ(m["one_stack"], c.at("one_stack"));
    EXPECT_EQ(m["at_destination"], c.at("at_destination"));
  }
}

void check_candidates(const Json& document) {
  uint64_t instances = 0, with_instances = 0;
  std::map<std::string, uint64_t> by_category;
  for (const Json& c : document.at("candidates")) {
    EXPECT_FALSE(c.at("kernel").get<std::string>().empty());
    EXPECT_TRUE(c.at("source_lines").is_string());
    number(c, "id");
    instances += number(c, "instances");
    for (const Json& i : c.at("instructions")) {
      EXPECT_GT(number(i, "ptx_line"), 0u);
      EXPECT_LE(number(i, "not_first"), number(i, "executions"));
      EXPECT_LE(number(i, "compared"), number(i, "not_first"));
      EXPECT_LE(number(i, "fixed"), number(i, "compared"));
      EXPECT_EQ(i.contains("predecessor_ptx_line"), number(i, "compared") != 0);
    }
    if (number(c, "instances") == 0) continue;
    with_instances += 1;
    by_category[c.at("category")] += 1;
    EXPECT_GE(c.at("fixed_share").get<double>(), 0);
    EXPECT_LE(c.at("fixed_share").get<double>(), 1);
  }
  EXPECT_EQ(instances, number(document, "instances"));
  uint64_t in_categories = 0;
  for (const Json& row : document.at("categories")) {
    EXPECT_EQ(number(row, "candidates"), by_category[row.at("name")]) << row;
    in_categories += number(row, "candidates");
  }
  EXPECT_EQ(in_categories, with_instances);
}

class Mappings : public ::testing::TestWithParam<const char*> {};

TEST_P(Mappings, DocumentAgreesWithItselfAndItsDescription) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_program({"analyze", GetParam(), "--mappings", "--json", folder.file("x.json")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_LE(longest_line(outcome.out), 80u) << outcome.out;

  const Json document = Json::parse(read_text(folder.file("x.json")));
  EXPECT_EQ(document.at("schema"), "nearwarp.mappings/1");
  EXPECT_EQ(document.at("workload"), GetParam());
  EXPECT_EQ(document.at("size"), "small");
  EXPECT_EQ(document.at("machine"), "tom");
  ASSERT_EQ(document.at("mappings").size(), 10u);
  for (const Json& m : document["mappings"]) check_quality(document, m);
  check_quality(document, document.at("baseline"));
  if (number(document, "instances") != 0) {
    check_choices(document);
    EXPECT_TRUE(contains(outcome.out, "best"));
  } else {
    EXPECT_TRUE(document.at("choices").empty());
    EXPECT_FALSE(document.contains("best_first_bit"));
  }
  check_candidates(document);
  for (const Json& a : document.at("allocations")) EXPECT_TRUE(a.at("touched").is_boolean());

  std::set<std::string> members;
  collect_members(document, members);
  const std::string description = read_text(std::string(NW_SOURCE_DIR) + "/docs/json.md");
  for (const std::string& name : members)
    EXPECT_TRUE(contains(description, "`" + name + "`")) << name << " is not in docs/json.md";
}

INSTANTIATE_TEST_SUITE_P(Small, Mappings,
                         ::testing::Values("kmeans", "libor", "fma", "heartwall", "reduction"));

TEST(MappingsCommand, TheTraceCacheChangesNothing) {
  const TemporaryFolder folder;
  const Words words = {"analyze", "cfd", "--mappings", "--trace-cache", folder.file("cache")};
  const Outcome first = run_program(words), second = run_program(words);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, second.out);
}

TEST(MappingsCommand, TheMachineDecidesOnStacksAndLines) {
  const Outcome outcome =
      run_program({"analyze", "cfd", "--mappings", "--set", "stack.count=8", "--set", "l2.slices=8",
                   "--set", "l1.line_bytes=64", "--set", "l1.set_function=linear"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "8 stacks, lines of 64 bytes")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "bits 6:8"));
  EXPECT_TRUE(contains(outcome.out, "bits 15:17"));
  EXPECT_LE(longest_line(outcome.out), 80u);
}

TEST(MappingsCommand, MistakesOfUse) {
  expect_usage_error({"analyze", "kmean", "--mappings"}, "'kmeans'");
  expect_usage_error({"analyze", "x.ptx", "--mappings"}, "it needs the traces of a program");
  expect_usage_error({"analyze", "kmeans", "--mappings", "--size", "huge"}, "huge");
  expect_usage_error({"analyze", "kmeans", "--mappings", "--kernel", "k"}, "--kernel");
  expect_usage_error({"analyze", "kmeans", "--size", "small"}, "--mappings");
  expect_usage_error({"analyze", "kmeans", "--strides", "--json", "x"}, "--mappings");
  expect_usage_error({"analyze", "kmeans", "--maping"}, "'--mappings'");
}

}  // namespace
}  // namespace nearwarp::testing
