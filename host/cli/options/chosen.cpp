#include "host/cli/options/chosen.h"

#include "host/cli/expected.h"

namespace nearwarp::cli {
namespace {

std::string name_of(const CommandLine& line, const char* option, const std::string& otherwise) {
  return line.given(option) || otherwise.empty() ? line.text(option) : otherwise;
}

}  // namespace

Machine chosen_machine(const CommandLine& line, const std::string& otherwise) {
  return taken(
      Machine::load(name_of(line, "machine", otherwise), line.texts("set"), Foreign::kPassedOver));
}

Policy chosen_policy(const CommandLine& line, const std::string& otherwise) {
  const Words names = {name_of(line, "policy", otherwise)};
  return taken(Policy::load_all(names, line.texts("set"), Foreign::kPassedOver)).front();
}

}  // namespace nearwarp::cli
