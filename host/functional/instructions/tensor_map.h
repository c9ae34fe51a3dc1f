// Tensor maps: the descriptions of tensors that cuTensorMapEncodeTiled() stores in 128 bytes, in a
// layout of nearwarp's own, and the addresses of the pieces of a box.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nearwarp::exec {

inline constexpr uint32_t kMostTensorDimensions = 5;

/// Types of elements, with the numbers of CUtensorMapDataType.
enum class TensorType : uint8_t {
  kU8,
  kU16,
  kU32,
  kS32,
  kU64,
  kS64,
  kF16,
  kF32,
  kF64,
  kBF16,
  kF32Flushed,
  kTF32,
  kTF32Flushed,
};
inline constexpr uint32_t kNumTensorTypes = 13;  ///< types with higher numbers need later GPUs
/// Bytes of an element of this type.
uint32_t bytes_of(TensorType type);

/// Layouts, with the numbers of CUtensorMapInterleave and CUtensorMapSwizzle.
enum class Interleave : uint8_t { kNone, k16B, k32B };
enum class Swizzle : uint8_t { kNone, k32B, k64B, k128B };

/// Bytes after which the pattern of a swizzle repeats along a row; 16 without one.
constexpr uint32_t swizzle_bytes(Swizzle s) { return 16u << static_cast<uint32_t>(s); }
/// The swizzled address of a byte of shared memory: pieces of 16 bytes change places within rows of
/// 32, 64 or 128 bytes, depending on the number of the row of 128 bytes, from which `phase` is
/// subtracted. Patterns repeat after 256, 512 and 1024 bytes. Source: PTX ISA 9.0, section 5.5.5;
/// CUDA programming guide, "Shared-memory bank swizzling".
constexpr uint64_t swizzled(Swizzle s, uint64_t address, uint32_t phase = 0) {
  const uint64_t row = (address >> 7) - phase;
  const uint64_t pieces = swizzle_bytes(s) / 16;
  return address ^ (row & (pieces - 1)) << 4;
}

/// The pixels that a map of images (im2col) walks: those of a bounding box in all dimensions; or
/// along the width alone, as many as the map has or 128 (CUtensorMapIm2ColWideMode).
enum class ImageMode : uint8_t { kNone, kBox, kWidth, kWidth128 };
/// Pixels of a column in kWidth128, and pixels of each of its parts.
inline constexpr uint32_t kWideColumn = 128, kWidePart = 32;

/// A map in memory. Kernels may change single fields (tensormap.replace), see is_usable().
struct TensorMap {
  static constexpr uint32_t kMagic = 0x4d54574e;  // "NWTM"

  uint32_t magic = kMagic;
  TensorType type = TensorType::kU8;
  uint8_t dimensions = 1;
  Interleave interleave = Interleave::kNone;
  Swizzle swizzle = Swizzle::kNone;
  uint8_t fills_nan = 0;     ///< elements outside of the tensor are NaN instead of 0
  uint8_t is_im2col = 0;     ///< an ImageMode
  uint8_t l2_promotion = 0;  ///< a hint
  uint8_t element_strides[5] = {1, 1, 1, 1, 1};
  uint64_t address = 0;
  uint64_t strides[4] = {};              ///< bytes, by dimension from 1 on
  uint32_t last[5] = {};                 ///< by dimension, the last index
  uint16_t box[5] = {};                  ///< elements of global memory; im2col: channels, pixels
  int16_t lower[3] = {}, upper[3] = {};  ///< im2col: corners of the bounding box
  uint8_t reserved[28] = {};

  uint32_t element_bytes() const { return bytes_of(type); }
  ImageMode image() const { return static_cast<ImageMode>(is_im2col); }
  bool wide() const { return is_im2col > static_cast<uint8_t>(ImageMode::kBox); }
  /// Can a box's elements be found by this map?
  bool is_usable() const {
    if (static_cast<uint32_t>(type) >= kNumTensorTypes || swizzle > Swizzle::k128B ||
        dimensions == 0 || dimensions > kMostTensorDimensions)
      return false;
    for (uint32_t d = interleave == Interleave::kNone ? 1 : 0; d < dimensions; ++d)
      if (element_strides[d] == 0) return false;
    return true;
  }
};
static_assert(sizeof(TensorMap) == 128);

/// The description of a tensor from which a map is made.
struct TensorRequest {
  uint32_t type = 0, dimensions = 0, interleave = 0, swizzle = 0, l2_promotion = 0, fill = 0;
  uint64_t address = 0;
  const uint64_t* sizes = nullptr;            ///< elements, by dimension
  const uint64_t* strides = nullptr;          ///< bytes, by dimension from 1 on
  const uint32_t* box = nullptr;              ///< by dimension; not used by im2col
  const uint32_t* element_strides = nullptr;  ///< by dimension
  bool im2col = false;
  ImageMode wide = ImageMode::kNone;  ///< im2col: kNone, or one of the two modes along the width
  const int* lower = nullptr;  ///< im2col: corners, without those of the first and last dimension
  const int* upper = nullptr;
  uint32_t channels = 0, pixels = 0;
};

/// Encode a map. Returns false if the request breaks a rule of the driver API (CUDA 13.0, tensor
/// map object management), or needs more than compute capability 9.0.
bool encode(const TensorRequest& request, TensorMap* map);

/// A box of a tensor, as pieces of 16 bytes in the order in which they lie in shared memory.
class TensorBox {
 public:
  static constexpr uint32_t kPiece = 16;
  static constexpr uint64_t kOutside = ~uint64_t{0};

  /// `map` must be usable. `coordinates` are those of the first element, by dimension. `offsets`,
  /// only for im2col, are added to the coordinates of each pixel; in modes along the width they are
  /// the number of additional pixels and an offset along the width.
  TensorBox(const TensorMap& map, std::span<const int32_t> coordinates,
            std::span<const int32_t> offsets);

  uint32_t pieces() const { return pieces_; }
  /// Offset of a piece in shared memory from the box's beginning, in bytes, before swizzling.
  uint32_t offset(uint32_t piece) const;
  /// Stores the device addresses of a piece's elements, kOutside for elements outside of the
  /// tensor. Returns the number of elements.
  uint32_t elements(uint32_t piece, std::array<uint64_t, kPiece>& addresses) const;
  /// Bytes from one row to the next.
  uint32_t pitch() const { return pitch_; }
  /// Are the elements of a piece neighbours in memory, if all are inside the tensor?
  bool contiguous() const { return steps_[0] == 1; }

  /// Number of pieces of any box of the map. `more` is the number of additional pixels in modes
  /// along the width.
  static uint32_t pieces_of(const TensorMap& map, uint32_t more = 0);
  /// So many times as many sectors as pieces may be touched by a run of pieces.
  static uint32_t sectors_of_piece(const TensorMap& map);

 private:
  struct Along {
    int64_t position = 0, turns = 0;
  };
  Along along_box(uint32_t d, uint32_t row) const;
  bool place_row(uint32_t row, std::array<int64_t, 5>& at) const;
  void place_wide(uint32_t row, std::array<int64_t, 5>& at) const;

  const TensorMap& map_;
  std::array<int64_t, 5> first_{}, shift_{};
  std::array<uint32_t, 5> steps_{}, counts_{};
  uint32_t pieces_ = 0, per_row_ = 0, pitch_ = 0, more_ = 0;
};

/// The value of elements outside of the tensor, of which an element takes its low bytes.
uint64_t fill_of(const TensorMap& map);

}  // namespace nearwarp::exec
