// The home of a line, the endpoint to which a class of requesters sends requests for it: a table by
// stack (or memory partition) and vault, which the host fills in when it lays the machine out.
//
// Several entries may name the same endpoint: two vaults behind one L2 slice, or two slices in
// front of one memory channel.
#pragma once

#include "device/core/address_map.h"

namespace nearwarp {

struct HomeTable {
  Ref<Endpoint> endpoints;  ///< [stack * per_stack + vault]
  uint32_t per_stack = 0;

  NW_HD NW_INLINE Endpoint at(uint32_t stack, uint32_t vault, const std::byte* base) const {
    NW_ASSERT(stack * per_stack + vault < endpoints.count);
    return endpoints.in(base)[stack * per_stack + vault];
  }
  NW_HD NW_INLINE Endpoint of(const AddressMap& map, LineAddr line, const std::byte* base) const {
    return at(map.stack_of(line), map.vault_of(line), base);
  }
};

}  // namespace nearwarp
