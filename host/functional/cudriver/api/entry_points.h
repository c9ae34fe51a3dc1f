// All names of the driver's library, for cuGetProcAddress().
#pragma once

namespace nearwarp::cudriver {

struct EntryPoint {
  const char* name;  ///< as exported, e.g. cuMemAlloc_v2
  int version;       ///< of CUDA that it came with: 12010 for 12.1
  void* address;
};

}  // namespace nearwarp::cudriver

/// Made from names.txt; the last one has no name.
extern const nearwarp::cudriver::EntryPoint nw_entry_points[];
