// Does damaged input ever do more than be refused? The driver: nw_fuzz [TARGET|all] [COUNT] [SEED].
//
// Everything that readers may do with what is wrong is throw nearwarp::Error. Another exception is
// told with the input that made it; a crash, or what a sanitizer finds, ends the process: the input
// lies in a file then, which is named before. The same seed gives the same inputs.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <new>
#include <string>

#include "host/core/error.h"
#include "host/core/temporary_folder.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"

namespace nearwarp::fuzz {
namespace {

/// The outcome for one input; "" if it was accepted or refused.
std::string outcome(const Target& target, const std::string& input) {
  try {
    target.read(input);
  } catch (const Error&) {
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

/// False if something was found.
bool fuzz(const Target& target, uint64_t count, uint64_t seed, const std::string& folder) {
  for (const std::string& right : target.corpus) {
    try {
      target.read(right);
    } catch (const Error& error) {
      std::printf("%s: an input that is right was refused: %s\n", target.name.c_str(),
                  error.what());
      return false;
    }
  }
  Mutator mutator(seed);
  const std::string last = folder + "/" + target.name + ".input";
  for (uint64_t i = 0; i < count; ++i) {
    const std::string input = mutator.next(target.corpus);
    std::ofstream(last, std::ios::binary) << input;
    const std::string found = outcome(target, input);
    if (found.empty()) continue;
    const std::string kept = "fuzz-" + target.name + ".input";
    std::ofstream(kept, std::ios::binary) << input;
    std::printf("%s: input %llu of seed %llu, kept as %s: %s\n", target.name.c_str(),
                static_cast<unsigned long long>(i), static_cast<unsigned long long>(seed),
                kept.c_str(), found.c_str());
    return false;
  }
  std::printf("%s: %llu inputs of seed %llu, each accepted or refused\n", target.name.c_str(),
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(seed));
  return true;
}

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "all";
  const uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
  const uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  const TemporaryFolder folder;
  std::printf("the input under way is in %s\n", folder.path().c_str());
  std::fflush(stdout);
  bool clean = true, any = false;
  for (const Target& target : targets(folder.path().string())) {
    if (wanted != "all" && wanted != target.name) continue;
    any = true;
    clean = fuzz(target, count, seed, folder.path().string()) && clean;
    std::fflush(stdout);
  }
  if (!any) std::printf("there is no target '%s'\n", wanted.c_str());
  return clean && any ? 0 : 1;
}

}  // namespace
}  // namespace nearwarp::fuzz

int main(int argc, char** argv) { return nearwarp::fuzz::main(argc, argv); }
