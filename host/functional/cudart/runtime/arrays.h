// CUDA arrays. They are stored row by row in device memory, since CUDA leaves their layout open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/functional/cudart/abi.h"
#include "host/functional/cudart/runtime/runtime.h"

namespace nearwarp::cudart {

/// An array: cudaArray_t points to one.
struct Array {
  ChannelDesc format{};
  Extent extent{};  ///< in elements; height or depth is 0 if it lacks the dimension
  unsigned flags = 0;
  size_t element_bytes = 0;
  size_t pitch = 0;  ///< bytes from a row to the next
  char* memory = nullptr;
  bool is_level = false;  ///< it belongs to a mipmapped array, and is destroyed with it

  size_t rows() const { return extent.height == 0 ? 1 : extent.height; }
  size_t slices() const { return extent.depth == 0 ? 1 : extent.depth; }
};

/// Creates an array. Throws Failure for an impossible format or extent.
Array* create_array(Runtime& runtime, const ChannelDesc& format, Extent extent, unsigned flags);
void destroy_array(Runtime& runtime, Array* array);
/// The array of a handle. Throws Failure if it is not a live array.
Array& checked_array(const Array* array);

/// Arrays of which each has half the size of the one before: cudaMipmappedArray_t points to them.
struct MipmappedArray {
  std::vector<Array*> levels;
};
/// Creates `levels` arrays, or as many as the extent allows if these are fewer.
MipmappedArray* create_mipmapped(Runtime& runtime, const ChannelDesc& format, Extent extent,
                                 unsigned levels, unsigned flags);
void destroy_mipmapped(Runtime& runtime, MipmappedArray* array);
MipmappedArray& checked_mipmapped(const MipmappedArray* array);

/// Forgets all arrays after a reset of the device, which has freed their memory.
void forget_arrays();

/// The source or destination of a copy of a box, with rows `pitch` and slices `slice` bytes apart.
struct Box {
  char* start = nullptr;
  size_t pitch = 0, slice = 0;
};

/// The box of `width_bytes` x `height` x `depth` at a position of an array (x in elements). Throws
/// Failure if it leaves the array.
Box box_in(const Array& array, Position position, size_t width_bytes, size_t height, size_t depth);

/// Copy a box; throws Failure as Memory::copy() does, and for pitches shorter than rows.
void copy_box(Runtime& runtime, const Box& dst, const Box& src, size_t width_bytes, size_t height,
              size_t depth, int kind);

}  // namespace nearwarp::cudart
