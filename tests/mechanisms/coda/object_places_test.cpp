// Where do rules of placement put a program's objects?
#include "host/mechanisms/coda/object_places.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "host/core/error.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::testing::object_places_test {
namespace {

coda::ObjectPlaces places(const std::string& name, const std::vector<std::string>& keys = {},
                          const std::string& machine = "coda") {
  const auto m = config::load_machine(machine, keys);
  const auto p = config::load_policy("coda", keys);
  return coda::study_places({workload(name), m, p});
}

const coda::ObjectPlace& object(const coda::ObjectPlaces& all, const std::string& name) {
  for (const coda::ObjectPlace& o : all.objects)
    if (o.name == name) return o;
  throw std::runtime_error(name);
}

TEST(ObjectPlaces, WhatBlocksHaveForThemselvesIsLocal) {
  // Both arrays of row-sum are their blocks' alone.
  const coda::ObjectPlaces all = places("row-sum");
  ASSERT_EQ(all.objects.size(), 2u);
  for (const coda::ObjectPlace& o : all.objects) {
    EXPECT_TRUE(o.by_distance && o.by_share) << o.name;
    EXPECT_TRUE(o.constant) << o.name;
  }
  EXPECT_EQ(object(all, "matrix").local, object(all, "matrix").accesses);
  EXPECT_GT(all.local_share(&coda::ObjectPlace::by_share), 0.99);
}

TEST(ObjectPlaces, TheTwoRulesDifferWhereBlocksAdvanceAndShare) {
  const coda::ObjectPlaces all = places("kmeans");
  // The transposed array: a block has a part of every row.
  const coda::ObjectPlace& features = object(all, "features");
  EXPECT_TRUE(features.by_distance);
  EXPECT_FALSE(features.by_share);
  EXPECT_EQ(features.block_bytes, 1024u);
  const coda::ObjectPlace& centers = object(all, "centers");
  EXPECT_EQ(centers.block_bytes, 0u);
  EXPECT_FALSE(centers.by_distance || centers.by_share);
  EXPECT_EQ(centers.local, 0u);
  EXPECT_TRUE(object(all, "points").by_share);
}

TEST(ObjectPlaces, SharesAreSumsOverObjects) {
  coda::ObjectPlaces all;
  all.stacks = 4;
  all.objects = {{"a", 0, 100, 60, 8, true, true, 50, true, true},
                 {"b", 0, 100, 40, 8, true, true, 4, true, false}};
  EXPECT_DOUBLE_EQ(all.local_share(&coda::ObjectPlace::by_distance), 0.54);
  EXPECT_DOUBLE_EQ(all.local_share(&coda::ObjectPlace::by_share), 0.60);
  EXPECT_EQ(coda::ObjectPlaces{}.local_share(&coda::ObjectPlace::by_share), 0);
}

TEST(ObjectPlaces, CountsAllLaunchesAndNotThoseOfTheFirstKernelAlone) {
  const coda::ObjectPlaces all = places("pagerank");
  // The rank is written once by a block of each vertex and launch, in two kernels.
  const coda::ObjectPlace& rank = object(all, "rank");
  const uint64_t vertices = rank.bytes / 4;
  EXPECT_EQ(rank.accesses, vertices * 2 * 2);  // read by one kernel, written by the other; twice
  // Shares that neighbours read lie where the vertex's block runs, as its first kernel has it.
  const coda::ObjectPlace& share = object(all, "share");
  EXPECT_TRUE(share.by_share);
  EXPECT_LT(share.local, share.accesses * 3 / 4);
  EXPECT_EQ(share.accesses, vertices * 2 + object(all, "edges").accesses);
}

TEST(ObjectPlaces, TableAndJsonSayTheSame) {
  coda::ObjectPlaces all = places("kmeans");
  all.size = "small";
  const auto json = nlohmann::json::parse(coda::object_places_json(all));
  EXPECT_EQ(json["schema"], "nearwarp.objects/1");
  EXPECT_EQ(json["policy"], "coda");
  ASSERT_EQ(json["objects"].size(), all.objects.size());
  uint64_t accesses = 0;
  for (size_t i = 0; i < all.objects.size(); ++i) {
    const coda::ObjectPlace& o = all.objects[i];
    EXPECT_EQ(json["objects"][i]["name"], o.name);
    EXPECT_EQ(json["objects"][i]["block_bytes"], o.block_bytes);
    EXPECT_EQ(json["objects"][i]["by_share"], o.by_share);
    accesses += o.accesses;
  }
  const std::string text = coda::format_object_places(all, 100);
  for (const coda::ObjectPlace& o : all.objects)
    EXPECT_NE(text.find("\n" + o.name + " "), std::string::npos) << text;
  EXPECT_NE(text.find("features    544,000        49.6   1,024 code     26.9   cgp       fgp"),
            std::string::npos)
      << text;
  EXPECT_GT(accesses, 0u);
}

TEST(ObjectPlaces, SaysWhatIsMissing) { EXPECT_THROW(places("kmeans", {}, "tom"), Error); }

}  // namespace
}  // namespace nearwarp::testing::object_places_test
