// Looks at a run while it goes on, for those who show it (BatchOptions::look).
#pragma once

#include <nearwarp/failure.h>
#include <nearwarp/result.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nearwarp {

/// The use that SMs of a kind made of their cycles.
struct SmLook {
  struct Use {
    std::string what;
    double share = 0;  ///< share of the SMs' cycles, 0 to 1
  };
  std::string sms;
  uint64_t count = 0;
  double warps = 0;  ///< resident on one, mean
  std::vector<Use> uses;
};
/// A run's progress since an earlier look at it, or its beginning.
struct RunLook {
  double ipc = 0;
  std::vector<SmLook> sms;
  std::string utilisation;  ///< JSON, as in docs/json.md
};
NEARWARP_API Expected<RunLook> look_at(const Result& now, const Result* before = nullptr);
/// A kernel's name without parameters, template arguments and namespaces.
NEARWARP_API std::string short_kernel_name(const std::string& kernel);

}  // namespace nearwarp
