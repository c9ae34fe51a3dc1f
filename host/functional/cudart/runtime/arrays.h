// CUDA arrays: kept row by row in device memory, whatever their layout may be elsewhere.
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
  Extent extent{};  ///< in elements; height and depth 0: fewer dimensions
  unsigned flags = 0;
  size_t element_bytes = 0;
  size_t pitch = 0;  ///< bytes of a row
  char* memory = nullptr;

  size_t rows() const { return extent.height == 0 ? 1 : extent.height; }
  size_t slices() const { return extent.depth == 0 ? 1 : extent.depth; }
};

/// Throws Failure for a format or an extent that is none.
Array* create_array(Runtime& runtime, const ChannelDesc& format, Extent extent, unsigned flags);
void destroy_array(Runtime& runtime, Array* array);
/// Throws Failure unless it lives.
Array& checked_array(const Array* array);

/// Arrays of which each has half the size of the one before: cudaMipmappedArray_t points to them.
struct MipmappedArray {
  std::vector<Array*> levels;
};
/// `levels` is cut to as many as the extent has.
MipmappedArray* create_mipmapped(Runtime& runtime, const ChannelDesc& format, Extent extent,
                                 unsigned levels, unsigned flags);
void destroy_mipmapped(Runtime& runtime, MipmappedArray* array);
MipmappedArray& checked_mipmapped(const MipmappedArray* array);

/// The device has been reset: there are no arrays. Their memory is freed with all other.
void forget_arrays();

/// One side of a copy of boxes: rows `pitch` bytes apart, slices `slice` bytes apart.
struct Box {
  char* start = nullptr;
  size_t pitch = 0, slice = 0;
};

/// The box of `width_bytes` x `height` x `depth` at a position (x in elements) of an array.
Box box_in(const Array& array, Position position, size_t width_bytes, size_t height, size_t depth);

/// Copy a box; throws Failure as Memory::copy() does, and for pitches shorter than rows.
void copy_box(Runtime& runtime, const Box& dst, const Box& src, size_t width_bytes, size_t height,
              size_t depth, int kind);

}  // namespace nearwarp::cudart
