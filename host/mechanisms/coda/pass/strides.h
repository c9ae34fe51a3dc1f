// CODA's analysis at compile time (section 4.3.2): for each access to global memory its address as
// an expression of kernel constants, indices of threads and blocks and loop variables, and from it
// how far the next thread block's access lies.
#pragma once

#include <string>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/mechanisms/coda/pass/polynomial.h"

namespace nearwarp::compiler {

/// How the address of an access depends on the block.
enum class AccessPattern : uint8_t {
  kRegular,    ///< a constant distance from block to block
  kShared,     ///< on nothing of the block: all of them access the same
  kIrregular,  ///< on values from memory
  kUnknown,    ///< on the block, in a way that the analysis does not see through
};

struct AccessStride {
  InstrId instruction = 0;
  bool store = false;  ///< or an atomic
  Polynomial address;
  bool object_known = false;
  Factor object;  ///< parameter or variable in whose object it lies
  AccessPattern pattern = AccessPattern::kUnknown;
  /// Regular: bytes from a thread block's access to that of the next one in x, y, z; they may
  /// contain loop variables and thread indices only if these do not change them, so they are
  /// expressions of kernel constants.
  Polynomial by_block[3];
};

/// The use that a kernel makes of one object.
struct ObjectStride {
  Factor object;
  AccessPattern pattern = AccessPattern::kUnknown;
  /// Regular: B, the largest of its accesses' distances in x, if the block's y and z do nothing
  /// else (or the grid's rows follow each other).
  Polynomial block_bytes;
  uint32_t accesses = 0;
};

/// The accesses to global memory in the order of their instructions.
std::vector<AccessStride> analyze_strides(const Kernel& kernel);
/// By object: irregular if any access is, else unknown, shared or regular likewise; and unknown
/// where regular accesses disagree on B. In the order of the objects.
std::vector<ObjectStride> strides_of_objects(const std::vector<AccessStride>& accesses);

/// By parameter: does the code extend it from 4 bytes to 8 with zeros, and never with its sign? An
/// extension of something that is computed of it in 4 bytes is none with zeros.
std::vector<bool> unsigned_parameters(const Kernel& kernel);

/// Name of a factor in a kernel: a parameter's number as "p2", "ntid.x", "loop" or "loaded" if
/// unknown.
std::string factor_name(const Kernel& kernel, const Factor& factor);
/// "regular", "shared", "irregular" or "unknown".
const char* pattern_name(AccessPattern pattern);
/// Accesses and objects of a kernel as text, ending with a line feed.
std::string format_strides(const Kernel& kernel);

}  // namespace nearwarp::compiler
