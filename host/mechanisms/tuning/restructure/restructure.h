// PTX in which the warps of a loop take consecutive elements of an array, of PTX in which all
// threads take them in turns: warps near memory then find their data in fewer stacks.
//
// Source: Y. Wu et al., "Tuning Applications for Efficient GPU Offloading to In-Memory Processing",
// ICS 2020, sections 3.2 and 3.3: developers annotate the array, and whether all threads or those
// of a thread block share it.
#pragma once

#include <string>

namespace nearwarp::compiler {

/// A developer's annotation of a kernel and its array.
struct Restructuring {
  std::string kernel;       ///< empty: the only one
  std::string parameter;    ///< that holds the array's address: its name or its number, from 0
  bool of_block = false;    ///< the threads of a block share it; else all threads of the grid
  bool no_alias = false;    ///< different parameters point to different memory
  bool any_thread = false;  ///< what a thread gathers may come from any elements
};

/// `ptx` with the loop over the array restructured: it begins with the first of its warp's
/// consecutive elements, and goes on by a warp's width. Launches whose threads are not whole warps
/// keep their order. Throws nearwarp::Error, with the line (of `path`) that stands in the way,
/// where it is not proved that every element is still taken once and that nothing depends on who
/// takes it in which order.
std::string restructured(const std::string& ptx, const std::string& path,
                         const Restructuring& what);

}  // namespace nearwarp::compiler
