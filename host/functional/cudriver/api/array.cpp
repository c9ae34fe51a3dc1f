// Entry points of arrays, textures and surfaces, which call those of the runtime API.
#include <algorithm>
#include <iterator>

#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

namespace {

/// cudaChannelFormatKind
enum Kind : int { kKindSigned = 0, kKindUnsigned = 1, kKindFloat = 2 };

struct Format {
  int number;  ///< ArrayFormat
  int bits;
  Kind kind;
};
constexpr Format kFormats[] = {{kUnsigned8, 8, kKindUnsigned},   {kUnsigned16, 16, kKindUnsigned},
                               {kUnsigned32, 32, kKindUnsigned}, {kSigned8, 8, kKindSigned},
                               {kSigned16, 16, kKindSigned},     {kSigned32, 32, kKindSigned},
                               {kHalf, 16, kKindFloat},          {kFloat, 32, kKindFloat}};

ChannelDesc channels(int format, unsigned count) {
  require(count == 1 || count == 2 || count == 4);
  for (const Format& f : kFormats) {
    if (f.number != format) continue;
    return {f.bits, count > 1 ? f.bits : 0, count > 2 ? f.bits : 0, count > 3 ? f.bits : 0, f.kind};
  }
  nw_driver_say_once(
      "arrays and textures of this format are not supported - integers of 8, 16 and 32 bits and "
      "floating point of 16 and 32 are");
  throw Failure{kErrorNotSupported};
}

void tell(const ChannelDesc& desc, int& format, unsigned& count) {
  count = desc.w != 0 ? 4 : desc.y != 0 ? 2 : 1;
  const auto* it = std::find_if(std::begin(kFormats), std::end(kFormats), [&](const Format& f) {
    return f.bits == desc.x && f.kind == desc.f;
  });
  require(it != std::end(kFormats));
  format = it->number;
}

cudart::ResourceDesc of_runtime(const ResourceDesc* r) {
  require(r != nullptr);
  cudart::ResourceDesc resource{};
  resource.type = r->type;
  resource.flags = r->flags;
  const LinearResource& l = r->resource.linear;
  const PitchResource& p = r->resource.pitch_2d;
  if (r->type == kResourceArray) {
    resource.resource.array = r->resource.array;
  } else if (r->type == kResourceMipmappedArray) {
    resource.resource.mipmapped = r->resource.mipmapped;
  } else if (r->type == kResourceLinear) {
    resource.resource.linear = {pointer(l.pointer), channels(l.format, l.channels), l.bytes};
  } else {
    require(r->type == kResourcePitch2D);
    resource.resource.pitch_2d = {pointer(p.pointer), channels(p.format, p.channels), p.width,
                                  p.height, p.pitch};
  }
  return resource;
}

ResourceDesc of_driver(const cudart::ResourceDesc& r) {
  ResourceDesc resource{};
  resource.type = r.type;
  resource.flags = r.flags;
  const auto& l = r.resource.linear;
  const auto& p = r.resource.pitch_2d;
  if (r.type == kResourceArray) {
    resource.resource.array = r.resource.array;
  } else if (r.type == kResourceMipmappedArray) {
    resource.resource.mipmapped = r.resource.mipmapped;
  } else if (r.type == kResourceLinear) {
    LinearResource& to = resource.resource.linear;
    to.pointer = address(l.pointer);
    to.bytes = l.bytes;
    tell(l.format, to.format, to.channels);
  } else {
    PitchResource& to = resource.resource.pitch_2d;
    to.pointer = address(p.pointer);
    to.width = p.width;
    to.height = p.height;
    to.pitch = p.pitch;
    tell(p.format, to.format, to.channels);
  }
  return resource;
}

/// The format of the elements of a texture's resource.
ChannelDesc format_of(const cudart::ResourceDesc& r) {
  if (r.type == kResourceLinear) return r.resource.linear.format;
  if (r.type == kResourcePitch2D) return r.resource.pitch_2d.format;
  Array* array = r.resource.array;
  if (r.type == kResourceMipmappedArray)
    check(cudaGetMipmappedArrayLevel(&array, r.resource.mipmapped, 0));
  ChannelDesc format;
  check(cudaGetChannelDesc(&format, array));
  return format;
}

/// The runtime's description of a texture. In the driver API, integers of 8 and 16 bits are read as
/// floating point unless kReadAsInteger is set; the runtime API has a read mode for that.
cudart::TextureDesc of_runtime(const TextureDesc* t, const ChannelDesc& format) {
  require(t != nullptr);
  const bool promoted = format.f != kKindFloat && format.x < 32 && (t->flags & kReadAsInteger) == 0;
  cudart::TextureDesc texture{};
  std::copy(t->address_mode, t->address_mode + 3, texture.address_mode);
  std::copy(t->border, t->border + 4, texture.border);
  texture.filter_mode = t->filter_mode;
  texture.read_mode = promoted ? 1 : 0;
  texture.srgb = (t->flags & kSrgb) != 0;
  texture.normalized_coordinates = (t->flags & kNormalizedCoordinates) != 0;
  texture.max_anisotropy = t->max_anisotropy;
  texture.mipmap_filter_mode = t->mipmap_filter_mode;
  texture.mipmap_bias = t->mipmap_bias;
  texture.min_level = t->min_level;
  texture.max_level = t->max_level;
  texture.disable_trilinear_optimization = (t->flags & kNoTrilinearOptimization) != 0;
  texture.seamless_cubemap = (t->flags & kSeamlessCubemap) != 0;
  return texture;
}

TextureDesc of_driver(const cudart::TextureDesc& t, const ChannelDesc& format) {
  TextureDesc texture{};
  std::copy(t.address_mode, t.address_mode + 3, texture.address_mode);
  std::copy(t.border, t.border + 4, texture.border);
  texture.filter_mode = t.filter_mode;
  const bool as_integer = format.f != kKindFloat && t.read_mode == 0;
  texture.flags = (as_integer ? kReadAsInteger : 0) |
                  (t.normalized_coordinates != 0 ? kNormalizedCoordinates : 0) |
                  (t.srgb != 0 ? kSrgb : 0) |
                  (t.disable_trilinear_optimization != 0 ? kNoTrilinearOptimization : 0) |
                  (t.seamless_cubemap != 0 ? kSeamlessCubemap : 0);
  texture.max_anisotropy = t.max_anisotropy;
  texture.mipmap_filter_mode = t.mipmap_filter_mode;
  texture.mipmap_bias = t.mipmap_bias;
  texture.min_level = t.min_level;
  texture.max_level = t.max_level;
  return texture;
}

Array3DDescriptor descriptor_of(Array* array) {
  ChannelDesc format;
  Extent extent;
  Array3DDescriptor d{};
  check(cudaArrayGetInfo(&format, &extent, &d.flags, array));
  d.width = extent.width;
  d.height = extent.height;
  d.depth = extent.depth;
  tell(format, d.format, d.channels);
  return d;
}

}  // namespace

// --- Arrays --------------------------------------------------------------------------------------

NW_CU cuArray3DCreate_v2(Array** array, const Array3DDescriptor* d) {
  return call([&] {
    require(d != nullptr);
    const ChannelDesc format = channels(d->format, d->channels);
    return cudaMalloc3DArray(array, &format, {d->width, d->height, d->depth}, d->flags);
  });
}
NW_CU cuArrayCreate_v2(Array** array, const ArrayDescriptor* d) {
  if (d == nullptr) return kErrorInvalidValue;
  const Array3DDescriptor box = {d->width, d->height, 0, d->format, d->channels, 0};
  return cuArray3DCreate_v2(array, &box);
}
NW_CU cuArrayDestroy(Array* array) { return forward(cudaFreeArray, array); }
NW_CU cuArray3DGetDescriptor_v2(Array3DDescriptor* d, Array* array) {
  return call([&] {
    require(d != nullptr);
    *d = descriptor_of(array);
    return kSuccess;
  });
}
NW_CU cuArrayGetDescriptor_v2(ArrayDescriptor* d, Array* array) {
  return call([&] {
    require(d != nullptr);
    const Array3DDescriptor box = descriptor_of(array);
    *d = {box.width, box.height, box.format, box.channels};
    return kSuccess;
  });
}
NW_CU cuMipmappedArrayCreate(MipmappedArray** array, const Array3DDescriptor* d, unsigned levels) {
  return call([&] {
    require(d != nullptr);
    const ChannelDesc format = channels(d->format, d->channels);
    return cudaMallocMipmappedArray(array, &format, {d->width, d->height, d->depth}, levels,
                                    d->flags);
  });
}
NW_CU cuMipmappedArrayGetLevel(Array** level, MipmappedArray* array, unsigned number) {
  return forward(cudaGetMipmappedArrayLevel, level, array, number);
}
NW_CU cuMipmappedArrayDestroy(MipmappedArray* array) {
  return forward(cudaFreeMipmappedArray, array);
}
NW_CU cuDeviceGetTexture1DLinearMaxWidth(size_t* elements, int format, unsigned count,
                                         Device device) {
  return call(Needs::kInitialization, [&] {
    const ChannelDesc desc = channels(format, count);
    return cudaDeviceGetTexture1DLinearMaxWidth(elements, &desc, device);
  });
}

// --- Textures and surfaces -----------------------------------------------------------------------

NW_CU cuTexObjectCreate(uint64_t* object, const ResourceDesc* resource, const TextureDesc* texture,
                        const ResourceViewDesc* view) {
  return call([&] {
    const auto r = of_runtime(resource);
    const auto t = of_runtime(texture, format_of(r));
    return cudaCreateTextureObject(object, &r, &t, view);
  });
}
NW_CU cuTexObjectDestroy(uint64_t object) { return forward(cudaDestroyTextureObject, object); }
NW_CU cuTexObjectGetResourceDesc(ResourceDesc* resource, uint64_t object) {
  return call([&] {
    cudart::ResourceDesc r;
    require(resource != nullptr);
    check(cudaGetTextureObjectResourceDesc(&r, object));
    *resource = of_driver(r);
    return kSuccess;
  });
}
NW_CU cuTexObjectGetTextureDesc(TextureDesc* texture, uint64_t object) {
  return call([&] {
    cudart::ResourceDesc r;
    cudart::TextureDesc t;
    require(texture != nullptr);
    check(cudaGetTextureObjectResourceDesc(&r, object));
    check(cudaGetTextureObjectTextureDesc(&t, object));
    *texture = of_driver(t, format_of(r));
    return kSuccess;
  });
}
NW_CU cuTexObjectGetResourceViewDesc(ResourceViewDesc* view, uint64_t object) {
  return forward(cudaGetTextureObjectResourceViewDesc, view, object);
}
NW_CU cuSurfObjectCreate(uint64_t* object, const ResourceDesc* resource) {
  return call([&] {
    const auto r = of_runtime(resource);
    return cudaCreateSurfaceObject(object, &r);
  });
}
NW_CU cuSurfObjectDestroy(uint64_t object) { return forward(cudaDestroySurfaceObject, object); }
NW_CU cuSurfObjectGetResourceDesc(ResourceDesc* resource, uint64_t object) {
  return call([&] {
    cudart::ResourceDesc r;
    require(resource != nullptr);
    check(cudaGetSurfaceObjectResourceDesc(&r, object));
    *resource = of_driver(r);
    return kSuccess;
  });
}

}  // namespace nearwarp::cudriver
