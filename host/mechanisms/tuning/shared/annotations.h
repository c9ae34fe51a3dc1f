// Annotations of shared arrays by developers: which an offloaded warp may take along, and as what.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device/mechanisms/tuning/shared_rows.h"
#include "host/functional/compiler/kernel.h"

namespace nearwarp::compiler {

using tuning::SharedKind;

/// A developer's statement on an array: it is taken for true where the code does not tell.
struct SharedAnnotation {
  std::string array;  ///< as PTX or the source names it
  SharedKind kind = SharedKind::kNone;
  uint32_t bytes = 0;  ///< that a warp accesses
};

/// "NAME:accumulator:BYTES" or "NAME:table:BYTES", several joined by "+". Throws nearwarp::Error,
/// which begins with `where`.
std::vector<SharedAnnotation> parse_annotations(std::string_view text, const std::string& where);

/// The kernel's shared arrays, as people write them.
std::vector<std::string> shared_arrays_of(const Kernel& kernel);
/// Has the kernel an array of that name, as PTX or the source has it?
bool has_shared_array(const Kernel& kernel, const std::string& name);
/// Is this its name, as PTX has it or as the source has it, alone or behind its function's?
bool is_named(const Symbol& symbol, const std::string& name);

}  // namespace nearwarp::compiler
