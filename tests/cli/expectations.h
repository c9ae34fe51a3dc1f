// Expectations that several tests of commands share.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/cli/program.h"

namespace nearwarp::testing {

/// The program refuses these words as a mistake of use, whose message has `part`.
inline void expect_usage_error(const Words& words, const std::string& part) {
  const Outcome outcome = run_program(words);
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(contains(outcome.err, part)) << outcome.err;
}

/// Adds the names of all members of a document, at whatever depth.
inline void collect_members(const nlohmann::json& json, std::set<std::string>& names) {
  if (json.is_object())
    for (const auto& [name, value] : json.items()) names.insert(name);
  if (json.is_structured())
    for (const nlohmann::json& value : json) collect_members(value, names);
}

}  // namespace nearwarp::testing
