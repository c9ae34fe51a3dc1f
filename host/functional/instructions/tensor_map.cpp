// Encodes tensor maps by the driver's rules, and finds the elements of boxes.
#include "host/functional/instructions/tensor_map.h"

#include <algorithm>

#include "host/functional/instructions/codes.h"

namespace nearwarp::exec {

namespace {

constexpr uint64_t kMostElements = uint64_t{1} << 32, kMostStride = uint64_t{1} << 40;
constexpr uint32_t kMostBox = 256, kMostElementStride = 8, kMostChannels = 256, kMostPixels = 1024;

/// Number of the box's elements along a dimension that are copied, with its element stride.
uint32_t copied(const TensorMap& map, uint32_t d) {
  // Without interleaving, the first dimension has no stride.
  const uint32_t step = d == 0 && map.interleave == Interleave::kNone ? 1 : map.element_strides[d];
  return (map.box[d] + step - 1) / step;
}

/// Copied bytes of a row of the box.
uint32_t row_bytes(const TensorMap& map) {
  return (map.is_im2col != 0 ? map.box[0] : copied(map, 0)) * map.element_bytes();
}

/// Checks the box of a request and stores it in the map; false if it breaks a rule.
bool box_is_right(const TensorRequest& r, TensorMap* map) {
  if (!r.im2col) {
    for (uint32_t d = 0; d < r.dimensions; ++d) {
      if (r.box[d] == 0 || r.box[d] > kMostBox) return false;
      map->box[d] = static_cast<uint16_t>(r.box[d]);
    }
    return true;
  }
  if (r.dimensions < 3 || r.channels == 0 || r.channels > kMostChannels || r.pixels == 0 ||
      r.pixels > kMostPixels)
    return false;
  const bool wide = r.wide != ImageMode::kNone;
  // Along the width, pixels are swizzled and not interleaved (PTX ISA 9.0, section 5.5.5).
  if (wide && (r.swizzle == 0 || r.interleave != 0)) return false;
  map->is_im2col = static_cast<uint8_t>(wide ? r.wide : ImageMode::kBox);
  map->box[0] = static_cast<uint16_t>(r.channels);
  map->box[1] = static_cast<uint16_t>(r.pixels);
  // All corners together have 16 bits: one has 16, two have 8 each, three have 5 each.
  const uint32_t corners = wide ? 1 : r.dimensions - 2;
  const int limit = corners == 1 ? 1 << 15 : corners == 2 ? 1 << 7 : 1 << 4;
  for (uint32_t d = 0; d < corners; ++d) {
    if (r.lower[d] < -limit || r.lower[d] >= limit || r.upper[d] < -limit || r.upper[d] >= limit)
      return false;
    map->lower[d] = static_cast<int16_t>(r.lower[d]);
    map->upper[d] = static_cast<int16_t>(r.upper[d]);
  }
  return true;
}

}  // namespace

uint32_t bytes_of(TensorType type) {
  switch (type) {
    case TensorType::kU8:
      return 1;
    case TensorType::kU16:
    case TensorType::kF16:
    case TensorType::kBF16:
      return 2;
    case TensorType::kU64:
    case TensorType::kS64:
    case TensorType::kF64:
      return 8;
    default:
      return 4;
  }
}

bool encode(const TensorRequest& r, TensorMap* out) {
  TensorMap map;
  if (r.type >= kNumTensorTypes || r.interleave > 2 || r.swizzle > 3 || r.l2_promotion > 3 ||
      r.fill > 1 || r.dimensions == 0 || r.dimensions > kMostTensorDimensions)
    return false;
  map.type = static_cast<TensorType>(r.type);
  map.dimensions = static_cast<uint8_t>(r.dimensions);
  map.interleave = static_cast<Interleave>(r.interleave);
  map.swizzle = static_cast<Swizzle>(r.swizzle);
  map.l2_promotion = static_cast<uint8_t>(r.l2_promotion);
  map.fills_nan = static_cast<uint8_t>(r.fill);
  const bool is_float = map.type >= TensorType::kF16;
  if (map.fills_nan != 0 && !is_float) return false;
  const bool interleaved = map.interleave != Interleave::kNone;
  if (interleaved && r.dimensions < 3) return false;
  if (map.interleave == Interleave::k32B && map.swizzle != Swizzle::k32B) return false;
  const uint64_t align = map.interleave == Interleave::k32B ? 32 : 16;
  if (r.address % align != 0 || r.address == 0) return false;
  map.address = r.address;
  for (uint32_t d = 0; d < r.dimensions; ++d) {
    if (r.sizes[d] == 0 || r.sizes[d] > kMostElements) return false;
    map.last[d] = static_cast<uint32_t>(r.sizes[d] - 1);
    if (r.element_strides[d] == 0 || r.element_strides[d] > kMostElementStride) return false;
    map.element_strides[d] = static_cast<uint8_t>(r.element_strides[d]);
    if (d == 0) continue;
    const uint64_t stride = r.strides[d - 1];
    if (stride % align != 0 || stride >= kMostStride) return false;
    map.strides[d - 1] = stride;
  }
  if (!box_is_right(r, &map)) return false;
  const uint32_t bytes = row_bytes(map);
  if (!interleaved && (bytes % TensorBox::kPiece != 0 ||
                       (map.swizzle != Swizzle::kNone && bytes > swizzle_bytes(map.swizzle))))
    return false;
  if (interleaved && bytes != align) return false;  // a slice of channels
  *out = map;
  return true;
}

uint64_t fill_of(const TensorMap& map) {
  if (map.fills_nan == 0) return 0;
  return uint64_t{kOutsideHalf} * 0x0001'0001'0001'0001;  // over all of an element
}

uint32_t TensorBox::pieces_of(const TensorMap& map, uint32_t more) {
  uint32_t rows = 1;
  if (map.image() == ImageMode::kWidth128)
    rows = kWideColumn + kWideColumn / kWidePart * more;
  else if (map.is_im2col != 0)
    rows = map.box[1] + more;
  else
    for (uint32_t d = 1; d < map.dimensions; ++d) rows *= copied(map, d);
  return rows * (row_bytes(map) / kPiece);
}

uint32_t TensorBox::sectors_of_piece(const TensorMap& map) {
  constexpr uint32_t kSector = 32;
  const bool strided = map.interleave != Interleave::kNone && map.is_im2col == 0;
  const uint32_t step = strided ? map.element_strides[0] : 1u;
  // A row of one piece touches two sectors at most, one of three pieces as many as it has: there
  // the last piece of a row that the run before has begun touches one more. Longer rows have fewer.
  const uint32_t pieces = row_bytes(map) / kPiece;
  if (step == 1) return pieces == 1 || pieces == 3 ? 2 : 1;
  return std::min(kPiece / map.element_bytes(), (kPiece * step - 1) / kSector + 2);
}

TensorBox::TensorBox(const TensorMap& map, std::span<const int32_t> coordinates,
                     std::span<const int32_t> offsets)
    : map_(map) {
  for (uint32_t d = 0; d < map.dimensions; ++d) {
    first_[d] = d < coordinates.size() ? coordinates[d] : 0;
    steps_[d] = map.element_strides[d];
    counts_[d] = copied(map, d);
  }
  if (map.interleave == Interleave::kNone) steps_[0] = 1;
  if (map.is_im2col != 0) steps_[0] = 1;
  if (map.wide() && offsets.size() == 2) {
    more_ = static_cast<uint32_t>(offsets[0]);
    shift_[1] = offsets[1];
  } else {
    for (uint32_t d = 0; d < offsets.size() && d + 1 < map.dimensions; ++d)
      shift_[d + 1] = offsets[d];
  }
  const uint32_t bytes = row_bytes(map);
  per_row_ = bytes / kPiece;
  pieces_ = pieces_of(map, more_);
  // With a swizzle, a row takes at least the swizzle's width.
  pitch_ = map.interleave == Interleave::kNone && map.swizzle != Swizzle::kNone
               ? std::max(bytes, swizzle_bytes(map.swizzle))
               : bytes;
}

uint32_t TensorBox::offset(uint32_t piece) const {
  return piece / per_row_ * pitch_ + piece % per_row_ * kPiece;
}

/// Where the pixel `row` after the first one lies along a dimension of the bounding box, and how
/// often the box's end was passed until there. The first pixel may lie before the box.
TensorBox::Along TensorBox::along_box(uint32_t d, uint32_t row) const {
  const int64_t low = map_.lower[d - 1], high = int64_t{map_.last[d]} + map_.upper[d - 1];
  const int64_t width = high < low ? 1 : (high - low) / steps_[d] + 1;
  const int64_t ahead = first_[d] - low;
  const int64_t before = ahead >= 0 ? ahead / steps_[d] : -((-ahead + steps_[d] - 1) / steps_[d]);
  const int64_t now = before + row, turns = now < 0 ? 0 : now / width;
  return {first_[d] + (now - turns * width - before) * steps_[d], turns};
}

/// The position of a row (a pixel) in a mode along the width. Pixels follow the bounding box along
/// the width, then that of the next image. Additional pixels continue behind the last pixel
/// (kWidth), or behind each 32 pixels (kWidth128), even beyond the bounding box.
void TensorBox::place_wide(uint32_t row, std::array<int64_t, 5>& at) const {
  const uint32_t part = map_.image() == ImageMode::kWidth128 ? kWidePart : map_.box[1];
  const uint32_t within = row % (part + more_);
  const uint32_t pixel = row / (part + more_) * part + std::min(within, part - 1);
  const auto [position, image] = along_box(1, pixel);
  const int64_t beyond = within < part ? 0 : within - part + 1;
  for (uint32_t d = 2; d < map_.dimensions; ++d) at[d] = first_[d];
  at[1] = position + shift_[1] + beyond * steps_[1];
  at[map_.dimensions - 1] += image;
}

/// Stores the indices of a row of the box, by dimension from 1 on; false if it is outside of the
/// tensor.
bool TensorBox::place_row(uint32_t row, std::array<int64_t, 5>& at) const {
  const uint32_t n = map_.dimensions;
  if (map_.wide()) {
    place_wide(row, at);
  } else if (map_.is_im2col == 0) {
    for (uint32_t d = 1; d < n; ++d) {
      at[d] = first_[d] + int64_t{row % counts_[d]} * steps_[d];
      row /= counts_[d];
    }
  } else {
    // Pixels follow the bounding box along a dimension, then along the next one; the last dimension
    // has no corners.
    for (uint32_t d = 1; d + 1 < n; ++d) {
      const auto [position, turns] = along_box(d, row);
      at[d] = position;
      row = static_cast<uint32_t>(turns);
    }
    at[n - 1] = first_[n - 1] + row;
    for (uint32_t d = 1; d + 1 < n; ++d) at[d] += shift_[d];
  }
  for (uint32_t d = 1; d < n; ++d)
    if (at[d] < 0 || at[d] > int64_t{map_.last[d]}) return false;
  return true;
}

uint32_t TensorBox::elements(uint32_t piece, std::array<uint64_t, kPiece>& addresses) const {
  const uint32_t bytes = map_.element_bytes(), count = kPiece / bytes;
  std::array<int64_t, 5> at{};
  const bool inside = place_row(piece / per_row_, at);
  uint64_t row = map_.address;
  for (uint32_t d = 1; d < map_.dimensions; ++d)
    row += static_cast<uint64_t>(at[d]) * map_.strides[d - 1];
  for (uint32_t e = 0; e < count; ++e) {
    const int64_t x = first_[0] + int64_t{piece % per_row_ * count + e} * steps_[0];
    const bool there = inside && x >= 0 && x <= int64_t{map_.last[0]};
    addresses[e] = there ? row + static_cast<uint64_t>(x) * bytes : kOutside;
  }
  return count;
}

}  // namespace nearwarp::exec
