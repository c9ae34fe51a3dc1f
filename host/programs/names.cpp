// Parses names of programs.
#include "host/programs/names.h"

#include <fmt/format.h>

#include <filesystem>

#include "host/core/error.h"
#include "host/recording/accel_sim/program_reader.h"

namespace nearwarp::programs {

namespace fs = std::filesystem;

namespace {

/// Is there such a file? (A name that is too long for a file is no error.)
bool is_there(const std::string& path) {
  std::error_code failed;
  return fs::exists(path, failed);
}

}  // namespace

std::vector<std::string> programs_joined(const std::string& programs) {
  if (is_there(programs)) return {programs};
  std::vector<std::string> names(1);
  for (const char c : programs) {
    if (c == '+')
      names.emplace_back();
    else
      names.back() += c;
  }
  return names;
}

runtime::BoundName bound_program(const std::string& program) {
  if (is_there(program)) return {program, 0};
  try {
    return runtime::bound_name(program);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

void check_policy_for_traces(const config::PolicyConfig& policy, const std::string& path) {
  if (policy.mechanism == "none") return;
  throw UsageError(
      fmt::format("policy '{}' is one of mechanism {}, which analyses kernels' PTX, and '{}' has "
                  "none: {} - run "
                  "the program itself, or take a policy without a mechanism, such as baseline",
                  policy.name, policy.mechanism, path, sass::kNoOffloading));
}

}  // namespace nearwarp::programs
