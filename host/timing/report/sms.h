// How many SMs runs have: a comparison of runs that differ there says so.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "host/timing/report/result.h"

namespace nearwarp::report {

/// SMs of a run.
struct SmNumbers {
  uint64_t main = 0, in_stacks = 0;  ///< in_stacks: beside main ones

  bool known() const { return main + in_stacks != 0; }
  bool operator==(const SmNumbers&) const = default;
  /// "68", or "64 + 4 in stacks".
  std::string text() const;
};

SmNumbers sms_of(const RunResult& run);
/// The numbers of a run as JSON; not known if the document is too old to say.
SmNumbers sms_of(const nlohmann::ordered_json& run);

/// Who has how many, e.g. "SMs: 68 (baseline), 64 + 4 in stacks (other)". Empty if all have as many
/// as far as it is known.
std::string different_sms_text(const std::vector<std::pair<std::string, SmNumbers>>& runs);

/// "a, b, c and 4 more".
std::string some_of(const std::vector<std::string>& names);

}  // namespace nearwarp::report
