// Messages to who runs the application.
#include "host/functional/cudart/say.h"

#include <cstdio>
#include <unordered_set>

namespace nearwarp::cudart {

void say(const std::string& message) {
  const std::string line = "nearwarp: " + message + "\n";
  std::fflush(stdout);
  std::fputs(line.c_str(), stderr);
}

void say_once(const std::string& message) {
  static auto* const said = new std::unordered_set<std::string>;
  if (said->insert(message).second) say(message);
}

}  // namespace nearwarp::cudart
