#include "bench/reference/configurations.h"

namespace nearwarp::reference {
namespace {

const std::vector<Configuration>& all() {
  static const std::vector<Configuration> list = {
      {"SM2_GTX480", "gtx480", "", {}, "", 128, 64},
      {"SM2_GTX480-perfect-icache",
       "gtx480",
       "perfect-icache",
       {"instruction_cache.bytes=0", "constant_cache.bytes=0"},
       "",
       128,
       64},
      {"SM7_QV100", "qv100", "", {}, "", 32, 32},
      {"SM7_QV100-cold", "qv100", "cold", {"l2.begins_with_data=false"}, "", 32, 32},
  };
  return list;
}

}  // namespace

std::vector<Configuration> configurations(const std::string& name) {
  std::vector<Configuration> found;
  for (const Configuration& c : all()) {
    if (c.name == name || c.name == name + "-" + c.variant) found.push_back(c);
  }
  return found;
}

}  // namespace nearwarp::reference
