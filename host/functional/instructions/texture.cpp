// Textures: addressing, filtering and formats.
#include "host/functional/instructions/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "host/functional/instructions/half_ops.h"
#include "host/functional/instructions/lane_words.h"

namespace nearwarp::runtime {

namespace {

using Address = TextureDesc::Address;
using Filter = TextureDesc::Filter;

constexpr int64_t kOutside = -1;

struct Element {
  std::array<float, 4> real = {};  // if the format is read as floating point
  std::array<uint32_t, 4> bits = {};
  uint64_t address = 0;
};

bool reads_float(const TextureDesc& d) {
  return d.format.kind == ChannelFormat::Kind::kFloat || d.normalized_float;
}

uint64_t element_address(const TextureImage& image, const ChannelFormat& format, int64_t x,
                         int64_t y, int64_t z) {
  const uint64_t bytes = format.element_bytes();
  const uint64_t pitch = image.pitch_bytes != 0 ? image.pitch_bytes : image.width * bytes;
  const uint64_t slice = image.slice_bytes != 0 ? image.slice_bytes : image.height * pitch;
  return image.address + static_cast<uint64_t>(z) * slice + static_cast<uint64_t>(y) * pitch +
         static_cast<uint64_t>(x) * bytes;
}

float normalized(uint32_t raw, unsigned bits, bool is_signed) {
  if (!is_signed) return static_cast<float>(raw) / static_cast<float>((1u << bits) - 1);
  const auto value = static_cast<float>(static_cast<int32_t>(raw << (32 - bits)) >> (32 - bits));
  return std::max(value / static_cast<float>((1u << (bits - 1)) - 1), -1.0f);
}

/// The bits that a fetch gives for a component that memory holds as `raw`.
uint32_t component_bits(const TextureDesc& d, uint32_t raw) {
  const unsigned bits = d.format.bits[0];
  if (bits == 32) return raw;
  const bool is_signed = d.format.kind == ChannelFormat::Kind::kSigned;
  if (d.format.kind == ChannelFormat::Kind::kFloat)
    return std::bit_cast<uint32_t>(static_cast<float>(exec::half_value(raw, false)));
  if (d.normalized_float) return std::bit_cast<uint32_t>(normalized(raw, bits, is_signed));
  return is_signed ? static_cast<uint32_t>(static_cast<int32_t>(raw << (32 - bits)) >> (32 - bits))
                   : raw;
}

/// The element at indices inside the image, or the border.
Element read(const TextureDesc& d, const TextureImage& image, const uint8_t* arena, int64_t x,
             int64_t y, int64_t z) {
  Element e;
  if (x < 0 || y < 0 || z < 0) {
    e.real = d.border;
    e.address = image.address;
    for (size_t i = 0; i < 4; ++i) e.bits[i] = std::bit_cast<uint32_t>(d.border[i]);
    return e;
  }
  e.address = element_address(image, d.format, x, y, z);
  const uint8_t* p = arena + (e.address - exec::kDeviceBase);
  const uint32_t n = d.format.components();
  const unsigned bits = d.format.bits[0];
  const bool is_real =
      d.format.kind == ChannelFormat::Kind::kFloat || (d.normalized_float && bits < 32);
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t raw = 0;
    std::memcpy(&raw, p + i * bits / 8, bits / 8);
    e.bits[i] = component_bits(d, raw);
    if (is_real) e.real[i] = std::bit_cast<float>(e.bits[i]);
  }
  if (n < 4 && reads_float(d)) {
    e.real[3] = 1.0f;
    e.bits[3] = std::bit_cast<uint32_t>(1.0f);
  }
  return e;
}

/// Index `i` brought into [0, size) as the address mode says; kOutside for the border.
int64_t bring_in(int64_t i, uint32_t size, Address mode, bool normalized_coordinates) {
  const auto n = static_cast<int64_t>(size);
  if (i >= 0 && i < n) return i;
  if (mode == Address::kBorder) return kOutside;
  if (!normalized_coordinates || mode == Address::kClamp) return std::clamp<int64_t>(i, 0, n - 1);
  if (mode == Address::kWrap) return ((i % n) + n) % n;
  const int64_t period = ((i % (2 * n)) + 2 * n) % (2 * n);
  return period < n ? period : 2 * n - 1 - period;
}

/// A coordinate in texels.
float scaled(float x, uint32_t size, bool normalized_coordinates) {
  if (x != x) return 0;
  const float v = normalized_coordinates ? x * static_cast<float>(size) : x;
  return std::clamp(v, -1e9f, 1e9f);
}

float fraction_of_8_bits(float x) { return std::nearbyint(x * 256.0f) / 256.0f; }

Element sample_level(const TextureDesc& d, const uint8_t* arena, std::array<float, 3> at,
                     unsigned dimensions, uint32_t layer, size_t level) {
  const TextureImage& image = d.levels[std::min(level, d.levels.size() - 1)];
  const uint32_t sizes[3] = {image.width, image.height, image.depth};
  const bool linear = d.filter == Filter::kLinear && reads_float(d);
  int64_t low[3] = {0, 0, static_cast<int64_t>(std::min(layer, image.depth - 1))};
  int64_t high[3] = {0, 0, low[2]};
  float weight[3] = {};
  for (unsigned i = 0; i < dimensions; ++i) {
    const float x = scaled(at[i], sizes[i], d.normalized_coordinates) - (linear ? 0.5f : 0.0f);
    const float floor = std::floor(x);
    weight[i] = linear ? fraction_of_8_bits(x - floor) : 0.0f;
    const auto index = static_cast<int64_t>(floor);
    low[i] = bring_in(index, sizes[i], d.address[i], d.normalized_coordinates);
    high[i] = bring_in(index + 1, sizes[i], d.address[i], d.normalized_coordinates);
  }
  Element first = read(d, image, arena, low[0], low[1], low[2]);
  if (!linear) return first;
  std::array<double, 4> sum = {};
  for (unsigned corner = 0; corner < 1u << dimensions; ++corner) {
    int64_t index[3] = {low[0], low[1], low[2]};
    double w = 1;
    for (unsigned i = 0; i < dimensions; ++i) {
      const bool upper = (corner >> i & 1) != 0;
      index[i] = upper ? high[i] : low[i];
      w *= upper ? weight[i] : 1.0f - weight[i];
    }
    if (w == 0) continue;
    const Element e = read(d, image, arena, index[0], index[1], index[2]);
    for (size_t c = 0; c < 4; ++c) sum[c] += w * static_cast<double>(e.real[c]);
  }
  for (size_t c = 0; c < 4; ++c) {
    first.real[c] = static_cast<float>(sum[c]);
    first.bits[c] = std::bit_cast<uint32_t>(first.real[c]);
  }
  return first;
}

}  // namespace

uint64_t TextureTable::add(TextureDesc desc) {
  textures_.emplace(next_, std::move(desc));
  return next_++;
}
uint64_t TextureTable::add(Surface surface) {
  surfaces_.emplace(next_, std::move(surface));
  return next_++;
}
const TextureDesc* TextureTable::texture(uint64_t handle) const {
  const auto it = textures_.find(handle);
  return it == textures_.end() ? nullptr : &it->second;
}
const TextureTable::Surface* TextureTable::surface(uint64_t handle) const {
  const auto it = surfaces_.find(handle);
  return it == surfaces_.end() ? nullptr : &it->second;
}

bool is_unfiltered(const TextureDesc& d) {
  return d.levels.size() == 1 && !(d.filter == Filter::kLinear && reads_float(d));
}

namespace {

/// The lanes' indices in direction `i`, brought into the image; those outside are not below its
/// size. `index` is the caller's own: lanes' loops are for vectors only where nothing else lies
/// there.
NW_INLINE void bring_in_lanes(const TextureDesc& d, const TexelLanes& lanes, unsigned i,
                              uint32_t size, int32_t* index) {
  // As scaled(), without branches.
  const float scale = d.normalized_coordinates ? static_cast<float>(size) : 1.0f;
  const uint32_t* const coordinates = lanes.coordinates[i];
  for (uint32_t k = 0; k < exec::kLanes; ++k) {
    const float x = std::bit_cast<float>(coordinates[k]);
    float v = x * scale;
    v = v < -1e9f ? -1e9f : v;
    v = 1e9f < v ? 1e9f : v;
    v = x != x ? 0.0f : v;
    index[k] = static_cast<int32_t>(std::floor(v));
  }
  const Address mode = d.address[i];
  if (mode == Address::kClamp || (mode != Address::kBorder && !d.normalized_coordinates)) {
    const auto last = static_cast<int32_t>(size) - 1;
    for (uint32_t k = 0; k < exec::kLanes; ++k) {
      const int32_t low = index[k] < 0 ? 0 : index[k];
      index[k] = low > last ? last : low;
    }
    return;
  }
  for (uint32_t k = 0; k < exec::kLanes; ++k)
    index[k] = static_cast<int32_t>(bring_in(index[k], size, mode, d.normalized_coordinates));
}

/// Puts one value into the lanes of `mask`.
template <class T>
void fill_lanes(T* to, uint32_t mask, T value) {
  for (uint32_t k = 0; k < exec::kLanes; ++k) to[k] = exec::lane_in<T>(mask, k) ? value : to[k];
}

/// Reads a component of 8 or 16 bits.
uint32_t read_component(const uint8_t* p, uint32_t bytes) {
  if (bytes == 1) return *p;
  uint16_t half;
  std::memcpy(&half, p, 2);
  return half;
}

/// Words of the texels at `offset` from the first one.
template <class A>
void read_words(uint32_t* out, const uint8_t* first, const A* offset, uint32_t mask) {
  if (mask == exec::kFullMask)
    exec::gather(out, first, offset);
  else
    exec::for_each_lane(mask, [&](uint32_t k) { std::memcpy(out + k, first + offset[k], 4); });
}

/// As unfiltered_lanes(). `steps`: bytes from texel to texel in each direction; A: what holds an
/// offset within the image.
template <class A>
void fetch_lanes(const TextureDesc& d, const uint8_t* arena, const TexelLanes& lanes,
                 const uint64_t (&steps)[3]) {
  const TextureImage& image = d.levels[0];
  const uint32_t sizes[3] = {image.width, image.height, image.depth};
  A offset[exec::kLanes];
  uint32_t outside = 0;
  for (unsigned i = 0; i < lanes.dimensions; ++i) {
    int32_t index[exec::kLanes];
    if (lanes.integers)
      std::memcpy(index, lanes.coordinates[i], sizeof(index));
    else
      bring_in_lanes(d, lanes, i, sizes[i], index);
    const A step = static_cast<A>(steps[i]);
    for (uint32_t k = 0; k < exec::kLanes; ++k)
      offset[k] =
          (i == 0 ? A{0} : offset[k]) + static_cast<A>(static_cast<uint32_t>(index[k])) * step;
    if (!lanes.integers && d.address[i] != Address::kBorder && sizes[i] != 0) continue;
    for (uint32_t k = 0; k < exec::kLanes; ++k)
      outside |= (0u - uint32_t{static_cast<uint32_t>(index[k]) >= sizes[i]}) &
                 exec::kLaneBit<uint32_t>.at[k];
  }
  if (outside != 0) fill_lanes(offset, outside, A{0});
  const uint64_t origin = image.address;
  uint64_t* const addresses = lanes.addresses;
  const uint32_t mask = lanes.mask;
  for (uint32_t k = 0; k < exec::kLanes; ++k)
    addresses[k] = exec::lane_in<uint64_t>(mask, k) ? origin + uint64_t{offset[k]} : addresses[k];
  const uint32_t n = d.format.components(), component = d.format.bits[0] / 8;
  const uint32_t last = n < 4 && reads_float(d) ? std::bit_cast<uint32_t>(1.0f) : 0;
  const uint32_t inside = mask & ~outside;
  const bool in_a_row =
      inside == exec::kFullMask && n == 1 && component == 4 && exec::is_progression(offset, A{4});
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t* const out = lanes.out[i];
    if (out == nullptr) continue;
    const uint8_t* const first = arena + (origin - exec::kDeviceBase) + i * component;
    if (i >= n)
      fill_lanes(out, inside, i < 3 ? 0 : last);
    else if (in_a_row)
      std::memcpy(out, first + offset[0], exec::kRowBytes);
    else if (component == 4)
      read_words(out, first, offset, inside);
    else
      exec::for_each_lane(inside, [&](uint32_t k) {
        out[k] = component_bits(d, read_component(first + offset[k], component));
      });
    const float border = lanes.integers ? 0.0f : d.border[i];
    if (outside != 0) fill_lanes(out, mask & outside, std::bit_cast<uint32_t>(border));
  }
}

}  // namespace

void unfiltered_lanes(const TextureDesc& d, const uint8_t* arena, const TexelLanes& lanes) {
  const TextureImage& image = d.levels[0];
  const uint64_t bytes = d.format.element_bytes();
  const uint64_t pitch = image.pitch_bytes != 0 ? image.pitch_bytes : image.width * bytes;
  const uint64_t slice = image.slice_bytes != 0 ? image.slice_bytes : image.height * pitch;
  const uint64_t steps[3] = {bytes, pitch, slice};
  const bool small = (image.width * bytes + image.height * pitch + image.depth * slice) >> 32 == 0;
  small ? fetch_lanes<uint32_t>(d, arena, lanes, steps)
        : fetch_lanes<uint64_t>(d, arena, lanes, steps);
}

Texel sample(const TextureDesc& d, const uint8_t* arena, std::array<float, 3> at,
             unsigned dimensions, uint32_t layer, float level) {
  level = std::clamp(level + d.mipmap_bias, d.min_level, std::max(d.min_level, d.max_level));
  if (level != level || level < 0) level = 0;
  const float top = static_cast<float>(d.levels.size() - 1);
  level = std::min(level, top);
  if (d.mipmap_filter == Filter::kLinear && reads_float(d) && level != std::floor(level)) {
    const auto base = static_cast<size_t>(level);
    const float w = fraction_of_8_bits(level - std::floor(level));
    Element a = sample_level(d, arena, at, dimensions, layer, base);
    const Element b = sample_level(d, arena, at, dimensions, layer, base + 1);
    Texel out{{}, a.address};
    for (size_t c = 0; c < 4; ++c)
      out.bits[c] = std::bit_cast<uint32_t>((1 - w) * a.real[c] + w * b.real[c]);
    return out;
  }
  const Element e =
      sample_level(d, arena, at, dimensions, layer, static_cast<size_t>(std::floor(level + 0.5f)));
  return {e.bits, e.address};
}

Texel fetch(const TextureDesc& d, const uint8_t* arena, std::array<int64_t, 3> at, uint32_t layer,
            uint32_t level) {
  const TextureImage& image = d.levels[std::min<size_t>(level, d.levels.size() - 1)];
  if (layer != 0) at[2] = layer;
  if (at[0] < 0 || at[1] < 0 || at[2] < 0 || at[0] >= image.width || at[1] >= image.height ||
      at[2] >= image.depth)
    return {{}, image.address};
  const Element e = read(d, image, arena, at[0], at[1], at[2]);
  return {e.bits, e.address};
}

Texel gather(const TextureDesc& d, const uint8_t* arena, float x, float y, uint32_t component) {
  const TextureImage& image = d.levels[0];
  const float fx = std::floor(scaled(x, image.width, d.normalized_coordinates) - 0.5f);
  const float fy = std::floor(scaled(y, image.height, d.normalized_coordinates) - 0.5f);
  const auto ix = static_cast<int64_t>(fx), iy = static_cast<int64_t>(fy);
  static constexpr int kOffsets[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  Texel out;
  for (size_t i = 0; i < 4; ++i) {
    const Element e = read(
        d, image, arena,
        bring_in(ix + kOffsets[i][0], image.width, d.address[0], d.normalized_coordinates),
        bring_in(iy + kOffsets[i][1], image.height, d.address[1], d.normalized_coordinates), 0);
    out.bits[i] = e.bits[component];
    out.address = e.address;
  }
  return out;
}

// Faces in the order +x -x +y -y +z -z, coordinates as in the table of the programming guide.
std::array<float, 3> cube_face(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  float face, m, s, t;
  if (ax >= ay && ax >= az) {
    face = x >= 0 ? 0.0f : 1.0f;
    m = ax, s = x >= 0 ? -z : z, t = -y;
  } else if (ay >= az) {
    face = y >= 0 ? 2.0f : 3.0f;
    m = ay, s = x, t = y >= 0 ? z : -z;
  } else {
    face = z >= 0 ? 4.0f : 5.0f;
    m = az, s = z >= 0 ? x : -x, t = -y;
  }
  if (m == 0) return {0.5f, 0.5f, face};
  return {(s / m + 1) / 2, (t / m + 1) / 2, face};
}

}  // namespace nearwarp::runtime
