// Which line, byte of it and sector is an address's, and back?
#include "device/core/line_grid.h"

#include <gtest/gtest.h>

namespace nearwarp {
namespace {

TEST(LineGrid, DividesAddressesFromItsBaseOn) {
  constexpr uint64_t kBase = uint64_t{1} << 36;
  for (const uint32_t shift : {5u, 6u, 7u, 8u}) {
    const LineGrid grid{kBase, shift};
    const uint64_t bytes = uint64_t{1} << shift;
    EXPECT_EQ(grid.line_bytes(), bytes);
    EXPECT_EQ(grid.line_of(kBase), 0u);
    EXPECT_EQ(grid.line_of(kBase + bytes - 1), 0u);
    EXPECT_EQ(grid.line_of(kBase + bytes), 1u);
    EXPECT_EQ(grid.byte_of(kBase + 3 * bytes - 1), bytes - 1);
    EXPECT_EQ(grid.sector_of(kBase + 3 * bytes - 1), 1u << (bytes / 32 - 1));
    EXPECT_EQ(grid.sector_of(kBase + 3 * bytes), 1u);
    EXPECT_EQ(grid.address_of(grid.line_of(kBase + 5 * bytes + 3)), kBase + 5 * bytes);
  }
  // A line number has 32 bits, an address more.
  const LineGrid grid{kBase, 7};
  EXPECT_EQ(grid.address_of(0xffffffffu), kBase + (uint64_t{0xffffffff} << 7));
}

}  // namespace
}  // namespace nearwarp
