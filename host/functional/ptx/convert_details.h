// Details of conversions, which also limit, and lay two results beside each other.
#pragma once

#include <cstdint>

namespace nearwarp::ptx {

/// kCvt: Modifiers::mode.
enum class CvtMode : uint8_t {
  kPlain,
  kLimited,  ///< .satfinite to f16 or bf16: the largest finite number stands for what is larger
  kPack      ///< cvt.pack, with a PackDetail
};

/// Two numbers beside each other, each limited to so many bits.
struct PackDetail {
  uint8_t bits = 16;
  bool is_signed = false;

  constexpr uint32_t pack() const { return uint32_t{bits} | uint32_t{is_signed} << 8; }
  static constexpr PackDetail unpack(uint32_t v) {
    return {static_cast<uint8_t>(v), (v >> 8 & 1) != 0};
  }
};

}  // namespace nearwarp::ptx
