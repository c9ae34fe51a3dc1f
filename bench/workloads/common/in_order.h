// Loads that stay where the source has them.
#pragma once

/// The value at `p`. The compiler moves the load neither before nor behind other accesses, and
/// does not keep an earlier value in a register, as it would without knowing that nothing else is
/// meant.
__device__ __forceinline__ float load_in_order(const float* p) {
  float value;
  asm volatile("ld.global.f32 %0, [%1];"
               : "=f"(value)
               : "l"(__cvta_generic_to_global(p))
               : "memory");
  return value;
}
