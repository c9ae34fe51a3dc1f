// Where the cycles are that one run takes more, or fewer, than another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace nearwarp::compare {

/// Cycles more than before; less than 0: fewer.
struct CyclePart {
  std::string what;
  int64_t cycles = 0;
};
struct CycleShare {
  std::string what;
  int64_t cycles = 0;
  /// Its parts, as links, banks, remote lines: they add up to `cycles`. Empty if they are not
  /// known.
  std::vector<CyclePart> parts = {};
};

/// A kernel's, all its launches together.
struct KernelShare {
  std::string kernel;
  int64_t cycles = 0;
  /// Uses of the SMs in them, the mean of all SMs beside the memory: adds up to `cycles`. Empty if
  /// that is not known, as of kernels that overlapped. Parts of what waits for memory are those of
  /// all kernels together, and not here.
  std::vector<CycleShare> causes;
};

/// Everything adds up: kernels to all cycles, causes of a kernel to the kernel's. The largest come
/// first.
struct Decomposition {
  int64_t cycles = 0;
  int64_t before = 0;                ///< the first run's
  std::vector<KernelShare> kernels;  ///< and what is in none of them
  std::vector<CycleShare> causes;    ///< of all kernels whose causes are known
  bool empty() const { return kernels.empty(); }
};

/// Decomposes two runs (nearwarp.run/1) that have the same kernels; of others it is empty.
Decomposition decompose(const nlohmann::ordered_json& before, const nlohmann::ordered_json& after);

/// " (mostly RX links)", if one part is at least half of the cause, else nothing.
std::string mostly(const CycleShare& cause);

/// In one paragraph that begins with `title`: the largest kernels, and causes of all. Empty for
/// less than half a per cent.
std::string format_shortly(const Decomposition& decomposition, const std::string& title,
                           size_t width);
/// In sentences, for a terminal of this width; at most `most` kernels (0: all).
std::string format(const Decomposition& decomposition, size_t most, size_t width);

/// `kernels` and `causes`, as in docs/json.md.
nlohmann::ordered_json decomposition_json(const Decomposition& decomposition);

}  // namespace nearwarp::compare
