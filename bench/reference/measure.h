// Runs the reference programs on a machine.
#pragma once

#include <string>
#include <vector>

#include "bench/reference/comparison.h"

namespace nearwarp::reference {

struct Setting {
  std::string config;            ///< GPGPU-Sim's configuration, with its variants
  std::string machine;           ///< unless empty, used instead of the configuration's machine
  std::vector<std::string> set;  ///< keys that differ from the machine's file, KEY=VALUE
  unsigned threads = 1;          ///< threads of each simulation
};

/// Runs those of the figures whose name the regular expression matches, in their order. Throws
/// nearwarp::Error if a program gives a wrong result.
std::vector<Row> measure(const Setting& setting, const std::vector<Figures>& figures,
                         const std::string& run_regex = "");

}  // namespace nearwarp::reference
