// Evaluates B of a launch's objects, as its kernel's code gives it.
#include "host/mechanisms/coda/code_strides.h"

#include <cstring>
#include <optional>
#include <vector>

#include "host/mechanisms/coda/pass/strides.h"

namespace nearwarp::coda {

namespace {

using compiler::Factor;

/// The parameters of a launch.
class Parameters {
 public:
  Parameters(const compiler::Kernel& kernel, const runtime::LaunchRecord& launch)
      : kernel_(kernel), launch_(launch) {}

  /// The value of one of 4 or 8 bytes; nothing for others.
  std::optional<int64_t> value(uint32_t number) {
    const compiler::Param& p = kernel_.params[number];
    if (p.offset + p.size > launch_.parameters.size()) return std::nullopt;
    const uint8_t* at = launch_.parameters.data() + p.offset;
    if (p.size == 4) {
      int32_t value = 0;
      std::memcpy(&value, at, sizeof value);
      return value < 0 && is_unsigned(number) ? int64_t{static_cast<uint32_t>(value)} : value;
    }
    if (p.size != 8) return std::nullopt;
    int64_t value = 0;
    std::memcpy(&value, at, sizeof value);
    return value;
  }

 private:
  bool is_unsigned(uint32_t number) {
    if (unsigned_.empty()) unsigned_ = compiler::unsigned_parameters(kernel_);
    return unsigned_[number];
  }

  const compiler::Kernel& kernel_;
  const runtime::LaunchRecord& launch_;
  std::vector<bool> unsigned_;  ///< by parameter, once one is met whose sign matters
};

int64_t axis(const runtime::Dim3& d, uint32_t index) {
  return index == 0 ? d.x : index == 1 ? d.y : d.z;
}

}  // namespace

std::map<uint64_t, uint64_t> strides_by_code(const runtime::Recording& recording, uint32_t launch) {
  const runtime::LaunchRecord& l = recording.launches[launch];
  const compiler::Kernel& kernel = *recording.kernels[l.kernel];
  Parameters parameters(kernel, l);
  std::map<uint64_t, uint64_t> strides;
  for (const compiler::ObjectStride& o :
       compiler::strides_of_objects(compiler::analyze_strides(kernel))) {
    if (o.pattern != compiler::AccessPattern::kRegular || o.object.kind != Factor::Kind::kParam)
      continue;
    bool known = true;
    const int64_t bytes = o.block_bytes.evaluate([&](const Factor& f) -> int64_t {
      if (f.kind == Factor::Kind::kNtid) return axis(l.block, f.index);
      if (f.kind == Factor::Kind::kNctaid) return axis(l.grid, f.index);
      const auto value = f.kind == Factor::Kind::kParam ? parameters.value(f.index) : std::nullopt;
      known &= value.has_value();
      return value.value_or(0);
    });
    const auto pointer = parameters.value(o.object.index);
    if (known && pointer && bytes > 0)
      strides[static_cast<uint64_t>(*pointer)] = static_cast<uint64_t>(bytes);
  }
  return strides;
}

}  // namespace nearwarp::coda
