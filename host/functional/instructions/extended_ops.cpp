// Executes operations with many operands: textures, surfaces, matrix products, copies of tensors.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "host/functional/instructions/matrix_ops.h"
#include "host/functional/instructions/memory.h"
#include "host/functional/instructions/tensor_ops.h"
#include "host/functional/instructions/texture.h"
#include "host/functional/instructions/warp_matrix.h"
#include "host/functional/ptx/details.h"
#include "host/functional/ptx/types.h"

namespace nearwarp::exec {

namespace {

using ptx::Geometry;
using ptx::TextureDetail;
using runtime::TextureTable;

/// The source operands of one lane.
struct Sources {
  Warp& warp;
  const ExtendedDesc& desc;
  uint32_t lane;

  uint32_t word(uint32_t i) const { return row<uint32_t>(warp.rows, desc.sources[i])[lane]; }
  float real(uint32_t i) const { return std::bit_cast<float>(word(i)); }
  uint64_t handle() const { return row<uint64_t>(warp.rows, desc.sources[0])[lane]; }
};

bool fault(Context& ctx, const ExtendedDesc& desc, FaultKind kind, uint32_t lane, uint64_t value) {
  ctx.fault = Fault{};
  ctx.fault.kind = kind;
  ctx.fault.lane = lane;
  ctx.fault.address = value;
  ctx.fault.instruction = desc.instruction;
  ctx.fault.is_write = desc.kind == ExtendedDesc::Kind::kSurfaceStore;
  return false;
}

void record(Warp& warp, const ExtendedDesc& desc, uint32_t mask, const uint64_t* addresses) {
  if (warp.trace == nullptr) return;
  if (desc.guarded != 0) warp.trace[warp.trace_size++] = mask;
  if (mask != 0)
    warp.trace_size += trace::write_record(warp.trace + warp.trace_size, mask, addresses);
}

bool is_layered(Geometry g) {
  return g == Geometry::kA1d || g == Geometry::kA2d || g == Geometry::kACube;
}
unsigned dimensions_of(Geometry g) {
  switch (g) {
    case Geometry::k1d:
    case Geometry::kA1d:
      return 1;
    case Geometry::k3d:
    case Geometry::kCube:
    case Geometry::kACube:
      return 3;
    default:
      return 2;
  }
}

/// The level of detail for two gradients, which begin at source `first`.
float level_of(const runtime::TextureDesc& d, const Sources& s, uint32_t first, unsigned dimensions,
               uint32_t stride) {
  const runtime::TextureImage& image = d.levels[0];
  const uint32_t sizes[3] = {image.width, image.height, image.depth};
  float longest = 0;
  for (uint32_t g = 0; g < 2; ++g) {
    float square = 0;
    for (unsigned i = 0; i < dimensions; ++i) {
      float v = s.real(first + g * stride + i);
      if (d.normalized_coordinates) v *= static_cast<float>(sizes[i]);
      square += v * v;
    }
    longest = std::max(longest, std::sqrt(square));
  }
  return longest > 0 ? std::log2(longest) : 0.0f;
}

runtime::Texel texel(const runtime::TextureDesc& d, const uint8_t* arena, const Sources& s) {
  const TextureDetail detail = TextureDetail::unpack(s.desc.detail);
  const bool layered = is_layered(detail.geometry);
  const uint32_t first = layered ? 2 : 1;  // source of the first coordinate
  unsigned dimensions = dimensions_of(detail.geometry);
  uint32_t layer = layered ? s.word(1) : 0;
  const bool cube = detail.geometry == Geometry::kCube || detail.geometry == Geometry::kACube;
  // Coordinates, with the layer, are vectors of 1, 2 or 4 elements.
  const uint32_t in_vector = (layered ? 1u : 0u) + dimensions;
  const uint32_t coordinates = in_vector == 3 ? 4 : in_vector;
  if (detail.gather != 0)
    return runtime::gather(d, arena, s.real(1), s.real(2), detail.gather - 1u);
  if (static_cast<ptx::Type>(s.desc.source_type) == ptx::Type::kS32) {
    std::array<int64_t, 3> at = {};
    for (unsigned i = 0; i < dimensions; ++i) at[i] = static_cast<int32_t>(s.word(first + i));
    const uint32_t level = detail.lod == TextureDetail::Lod::kLevel ? s.word(1 + coordinates) : 0;
    return runtime::fetch(d, arena, at, layer, level);
  }
  std::array<float, 3> at = {};
  for (unsigned i = 0; i < dimensions; ++i) at[i] = s.real(first + i);
  float level = 0;
  if (detail.lod == TextureDetail::Lod::kLevel) level = s.real(1 + coordinates);
  if (detail.lod == TextureDetail::Lod::kGrad)
    level = level_of(d, s, 1 + coordinates, dimensions, dimensions == 3 ? 4 : dimensions);
  if (cube) {
    const auto face = runtime::cube_face(at[0], at[1], at[2]);
    at = {face[0], face[1], 0};
    if (!d.normalized_coordinates) {
      at[0] *= static_cast<float>(d.levels[0].width);
      at[1] *= static_cast<float>(d.levels[0].height);
    }
    layer = layer * 6 + static_cast<uint32_t>(face[2]);
    dimensions = 2;
  }
  return runtime::sample(d, arena, at, dimensions, layer, level);
}

/// Can unfiltered_lanes() execute fetches by `desc` from `d`?
bool is_plain(const runtime::TextureDesc& d, const ExtendedDesc& desc,
              const TextureDetail& detail) {
  const bool integers = static_cast<ptx::Type>(desc.source_type) == ptx::Type::kS32;
  const Geometry g = detail.geometry;
  return (g == Geometry::k1d || g == Geometry::k2d || g == Geometry::k3d) && detail.gather == 0 &&
         desc.num_destinations <= 4 && (integers ? d.levels.size() == 1 : is_unfiltered(d));
}

bool texture(Context& ctx, Warp& warp, const ExtendedDesc& desc, uint32_t mask) {
  const auto* table = static_cast<const TextureTable*>(ctx.textures);
  const TextureDetail detail = TextureDetail::unpack(desc.detail);
  const uint64_t* handles = row<uint64_t>(warp.rows, desc.sources[0]);
  uint64_t addresses[kLanes];  // of the lanes of `mask`
  for (uint32_t rest = mask; rest != 0;) {
    const auto first = static_cast<uint32_t>(__builtin_ctz(rest));
    const uint64_t handle = handles[first];
    const runtime::TextureDesc* d = table == nullptr ? nullptr : table->texture(handle);
    if (d == nullptr) return fault(ctx, desc, FaultKind::kBadTexture, first, handle);
    runtime::TexelLanes lanes;  // those that use the same texture
    uint64_t same = 0;
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      same |= (uint64_t{0} - uint64_t{handles[lane] == handle}) & kLaneBit<uint64_t>.at[lane];
    lanes.mask = rest & static_cast<uint32_t>(same);
    rest &= ~lanes.mask;
    const auto out = [&](uint32_t i) {
      const bool wanted = i < desc.num_destinations && desc.destinations[i] != kNoRow;
      return wanted ? row<uint32_t>(warp.rows, desc.destinations[i]) : nullptr;
    };
    if (is_plain(*d, desc, detail)) {
      lanes.dimensions = dimensions_of(detail.geometry);
      lanes.integers = static_cast<ptx::Type>(desc.source_type) == ptx::Type::kS32;
      for (unsigned i = 0; i < lanes.dimensions; ++i)
        lanes.coordinates[i] = row<uint32_t>(warp.rows, desc.sources[1 + i]);
      for (uint32_t i = 0; i < 4; ++i) lanes.out[i] = out(i);
      lanes.addresses = addresses;
      unfiltered_lanes(*d, ctx.arena, lanes);
      continue;
    }
    for_each_lane(lanes.mask, [&](uint32_t lane) {
      const runtime::Texel t = texel(*d, ctx.arena, Sources{warp, desc, lane});
      addresses[lane] = t.address;
      for (uint32_t i = 0; i < desc.num_destinations; ++i)
        if (uint32_t* row_of = out(i); row_of != nullptr) row_of[lane] = t.bits[i];
    });
  }
  record(warp, desc, mask, addresses);
  return true;
}

/// Finds the address of a surface access of `bytes` bytes. If it is outside, the function returns
/// false, and `address` is the surface's beginning.
bool surface_address(const TextureTable::Surface& surface, const TextureDetail& detail,
                     const Sources& s, uint32_t bytes, uint64_t* address) {
  const runtime::TextureImage& image = surface.image;
  const uint64_t row_bytes = uint64_t{image.width} * surface.format.element_bytes();
  const uint64_t pitch = image.pitch_bytes != 0 ? image.pitch_bytes : row_bytes;
  const uint64_t slice = image.slice_bytes != 0 ? image.slice_bytes : pitch * image.height;
  const bool layered = is_layered(detail.geometry);
  const uint32_t first = layered ? 2 : 1;
  const unsigned dimensions = dimensions_of(detail.geometry);
  int64_t x = static_cast<int32_t>(s.word(first));
  int64_t y = dimensions > 1 ? static_cast<int32_t>(s.word(first + 1)) : 0;
  int64_t z = dimensions > 2 ? static_cast<int32_t>(s.word(first + 2)) : 0;
  if (layered) z = static_cast<int32_t>(s.word(1));
  const auto last_x = static_cast<int64_t>(row_bytes) - bytes;
  bool inside = x >= 0 && x <= last_x && y >= 0 && y < image.height && z >= 0 && z < image.depth;
  if (!inside && detail.outside == TextureDetail::Outside::kClamp) {
    x = std::clamp<int64_t>(x, 0, std::max<int64_t>(last_x, 0));
    y = std::clamp<int64_t>(y, 0, image.height - 1);
    z = std::clamp<int64_t>(z, 0, image.depth - 1);
    inside = last_x >= 0;
  }
  *address = image.address;
  if (inside)
    *address += static_cast<uint64_t>(z) * slice + static_cast<uint64_t>(y) * pitch +
                static_cast<uint64_t>(x);
  return inside;
}

bool surface(Context& ctx, Warp& warp, const ExtendedDesc& desc, uint32_t mask) {
  const auto* table = static_cast<const TextureTable*>(ctx.textures);
  const TextureDetail detail = TextureDetail::unpack(desc.detail);
  const bool store = desc.kind == ExtendedDesc::Kind::kSurfaceStore;
  const uint32_t bytes = ptx::size_of(static_cast<ptx::Type>(desc.type));
  uint64_t addresses[kLanes] = {};
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(m));
    const Sources s{warp, desc, lane};
    const TextureTable::Surface* found = table == nullptr ? nullptr : table->surface(s.handle());
    if (found == nullptr) return fault(ctx, desc, FaultKind::kBadTexture, lane, s.handle());
    const bool inside = surface_address(*found, detail, s, bytes * detail.vector, &addresses[lane]);
    if (!inside && detail.outside == TextureDetail::Outside::kTrap)
      return fault(ctx, desc, FaultKind::kOutsideSurface, lane, s.handle());
    uint8_t* p = ctx.arena + (addresses[lane] - kDeviceBase);
    for (uint32_t i = 0; i < detail.vector; ++i) {
      uint64_t v = 0;
      if (store) {
        if (!inside) continue;
        const uint32_t source = desc.num_sources - detail.vector + i;
        v = (desc.wide >> source & 1) != 0 ? row<uint64_t>(warp.rows, desc.sources[source])[lane]
                                           : row<uint32_t>(warp.rows, desc.sources[source])[lane];
        std::memcpy(p + i * bytes, &v, bytes);
        ctx.stored = true;
        continue;
      }
      if (inside) std::memcpy(&v, p + i * bytes, bytes);
      if (desc.destinations[i] == kNoRow) continue;
      if (bytes == 8) {
        row<uint64_t>(warp.rows, desc.destinations[i])[lane] = v;
      } else {
        row<uint32_t>(warp.rows, desc.destinations[i])[lane] = static_cast<uint32_t>(v);
      }
    }
  }
  record(warp, desc, mask, addresses);
  return true;
}

}  // namespace

bool execute_extended(Context& ctx, Warp& warp, const Op& op, uint32_t mask) {
  const ExtendedDesc& desc = ctx.extended[op.imm];
  switch (desc.kind) {
    case ExtendedDesc::Kind::kTexture:
      return texture(ctx, warp, desc, mask);
    case ExtendedDesc::Kind::kSurfaceLoad:
    case ExtendedDesc::Kind::kSurfaceStore:
      return surface(ctx, warp, desc, mask);
    case ExtendedDesc::Kind::kMatrix:
      if (mask != 0) matrix(warp, desc, mask);
      return true;
    case ExtendedDesc::Kind::kWarpMatrix:
      return warp_matrix(ctx, warp, desc, mask);
    case ExtendedDesc::Kind::kTensorSize:
    case ExtendedDesc::Kind::kTensorLoad:
    case ExtendedDesc::Kind::kTensorStore:
    case ExtendedDesc::Kind::kTensorReduce:
      return tensor(ctx, warp, desc, mask);
  }
  return true;
}

}  // namespace nearwarp::exec
