// Are texts of PTX that were joined the same when they are taken apart?
#include "host/functional/cudart/code/linked_ptx.h"

#include <gtest/gtest.h>

namespace nearwarp::cudart {
namespace {

using Units = std::vector<std::string>;

TEST(LinkedPtx, UnitsComeApartAsTheyWere) {
  for (const Units& units :
       {Units{"one"}, Units{"one", "two\n"},
        Units{"", "// nearwarp: a linked unit of 3 bytes\nabc"}, Units{"a", "", "c"}})
    EXPECT_EQ(split_ptx(join_ptx(units)), units);
}

TEST(LinkedPtx, OneUnitIsAsItIs) { EXPECT_EQ(join_ptx({".version 7.5"}), ".version 7.5"); }

TEST(LinkedPtx, WhatWasNotJoinedIsOneUnit) {
  const std::string joined = join_ptx({"first", "second"});
  for (const std::string& text :
       {std::string(), std::string(".version 7.5\n"), joined + "more", joined.substr(0, 20),
        joined.substr(0, joined.size() - 1), "x" + joined,
        std::string("// nearwarp: a linked unit of 99999999999999999999999 bytes\nabc"),
        std::string("// nearwarp: a linked unit of -1 bytes\nabc")})
    EXPECT_EQ(split_ptx(text), Units{text});
}

}  // namespace
}  // namespace nearwarp::cudart
