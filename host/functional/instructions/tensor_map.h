// Tensor maps: what cuTensorMapEncodeTiled() leaves in 128 bytes for the copies of tensors, in a
// layout of our own, and where the pieces of a box lie by it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nearwarp::exec {

inline constexpr uint32_t kMostTensorDimensions = 5;

/// Types of elements: CUtensorMapDataType, by its numbers.
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
inline constexpr uint32_t kNumTensorTypes = 13;  ///< of them; those behind are of later GPUs
/// Bytes of an element.
uint32_t bytes_of(TensorType type);

/// CUtensorMapInterleave and CUtensorMapSwizzle, by their numbers.
enum class Interleave : uint8_t { kNone, k16B, k32B };
enum class Swizzle : uint8_t { kNone, k32B, k64B, k128B };

/// Bytes after which the pattern of a swizzle repeats along a row; 16 without one.
constexpr uint32_t swizzle_bytes(Swizzle s) { return 16u << static_cast<uint32_t>(s); }
/// Where a byte of shared memory lies by a pattern of the PTX ISA 9.0, section 5.5.5: pieces of 16
/// bytes change places within rows of 32, 64 or 128 bytes, by the number of the row of 128 bytes.
/// Patterns repeat after 256, 512 and 1024 bytes (CUDA programming guide, "Shared-memory bank
/// swizzling"). `phase` is taken off the number.
constexpr uint64_t swizzled(Swizzle s, uint64_t address, uint32_t phase = 0) {
  const uint64_t row = (address >> 7) - phase;
  const uint64_t pieces = swizzle_bytes(s) / 16;
  return address ^ (row & (pieces - 1)) << 4;
}

/// The pixels of a map of images: of a bounding box in all dimensions, or in a row's width alone,
/// as many as the map says or 128 (CUtensorMapIm2ColWideMode).
enum class ImageMode : uint8_t { kNone, kBox, kWidth, kWidth128 };
/// Pixels of a column in kWidth128, and those of its parts.
inline constexpr uint32_t kWideColumn = 128, kWidePart = 32;

/// A map as it lies in memory.
struct TensorMap {
  static constexpr uint32_t kMagic = 0x4d54574e;  // "NWTM"

  uint32_t magic = kMagic;
  TensorType type = TensorType::kU8;
  uint8_t dimensions = 1;
  Interleave interleave = Interleave::kNone;
  Swizzle swizzle = Swizzle::kNone;
  uint8_t fills_nan = 0;     ///< rather than 0, for what lies outside
  uint8_t is_im2col = 0;     ///< an ImageMode
  uint8_t l2_promotion = 0;  ///< a hint
  uint8_t element_strides[5] = {1, 1, 1, 1, 1};
  uint64_t address = 0;
  uint64_t strides[4] = {};              ///< in bytes, of dimensions 1 on
  uint32_t last[5] = {};                 ///< of each dimension, the last index
  uint16_t box[5] = {};                  ///< elements of global memory; im2col: channels, pixels
  int16_t lower[3] = {}, upper[3] = {};  ///< im2col: corners of the bounding box
  uint8_t reserved[28] = {};

  uint32_t element_bytes() const { return bytes_of(type); }
  ImageMode image() const { return static_cast<ImageMode>(is_im2col); }
  bool wide() const { return is_im2col > static_cast<uint8_t>(ImageMode::kBox); }
};
static_assert(sizeof(TensorMap) == 128);

/// The description of a tensor that a map is made of.
struct TensorRequest {
  uint32_t type = 0, dimensions = 0, interleave = 0, swizzle = 0, l2_promotion = 0, fill = 0;
  uint64_t address = 0;
  const uint64_t* sizes = nullptr;            ///< elements, by dimension
  const uint64_t* strides = nullptr;          ///< bytes, of dimensions 1 on
  const uint32_t* box = nullptr;              ///< by dimension; not of im2col
  const uint32_t* element_strides = nullptr;  ///< by dimension
  bool im2col = false;
  ImageMode wide = ImageMode::kNone;  ///< im2col: or one of the two modes along the width
  const int* lower = nullptr;  ///< im2col: corners, of all but the first and the last dimension
  const int* upper = nullptr;
  uint32_t channels = 0, pixels = 0;
};

/// Encode a map. False if the request breaks a rule of the driver's API (CUDA 13.0, tensor map
/// object management), or asks for what GPUs of compute capability 9.0 do not have.
bool encode(const TensorRequest& request, TensorMap* map);

/// A box of a tensor: pieces of 16 bytes, as they lie in shared memory one after the other.
class TensorBox {
 public:
  static constexpr uint32_t kPiece = 16;
  static constexpr uint64_t kOutside = ~uint64_t{0};

  /// `coordinates`: of its first element, by dimension; `offsets`: im2col, of each pixel; along the
  /// width, how many pixels more there are, and where all of them are moved to.
  TensorBox(const TensorMap& map, std::span<const int32_t> coordinates,
            std::span<const int32_t> offsets);

  uint32_t pieces() const { return pieces_; }
  /// Where a piece lies, from the box's beginning, before it is swizzled.
  uint32_t offset(uint32_t piece) const;
  /// Device addresses of the elements of a piece, kOutside for those that the tensor does not have.
  /// Returns how many there are.
  uint32_t elements(uint32_t piece, std::array<uint64_t, kPiece>& addresses) const;
  /// Bytes from one row to the next.
  uint32_t pitch() const { return pitch_; }
  /// Are the elements of a piece that is all inside neighbours?
  bool contiguous() const { return steps_[0] == 1; }

  /// Pieces of any box of the map; `more`: of images along the width, pixels behind the others.
  static uint32_t pieces_of(const TensorMap& map, uint32_t more = 0);

 private:
  bool place_row(uint32_t row, std::array<int64_t, 5>& at) const;
  void place_wide(uint32_t row, std::array<int64_t, 5>& at) const;

  const TensorMap& map_;
  std::array<int64_t, 5> first_{}, shift_{};
  std::array<uint32_t, 5> steps_{}, counts_{};
  uint32_t pieces_ = 0, per_row_ = 0, pitch_ = 0, more_ = 0;
};

/// The value that an element outside of the tensor is read as: `bytes` of it.
uint64_t fill_of(const TensorMap& map);

}  // namespace nearwarp::exec
