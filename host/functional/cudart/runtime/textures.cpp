// Texture and surface objects: checks the application's descriptors and translates them into those
// of the virtual device.
#include "host/functional/cudart/runtime/textures.h"

#include <algorithm>
#include <map>

#include "host/functional/cudart/runtime/arrays.h"
#include "host/functional/cudart/runtime/runtime.h"

namespace nearwarp::cudart {

namespace {

using runtime::ChannelFormat;
using runtime::TextureImage;
using DeviceTexture = runtime::TextureDesc;

struct Objects {
  std::map<uint64_t, TextureObject> textures;
  std::map<uint64_t, ResourceDesc> surfaces;
};
Objects& objects() {
  static auto* const all = new Objects;
  return *all;
}

[[noreturn]] void not_supported(const char* what) {
  say_once(std::string(what) + " not supported on the simulated GPU: cudaCreateTextureObject() " +
           "returns cudaErrorNotSupported");
  throw Failure{kErrorNotSupported};
}

ChannelFormat format_of(const ChannelDesc& d) {
  for (const int bits : {d.x, d.y, d.z, d.w})
    require(bits == 0 || bits == 8 || bits == 16 || bits == 32, kErrorInvalidChannelDescriptor);
  require(d.f >= 0 && d.f <= 2, kErrorInvalidChannelDescriptor);
  ChannelFormat format;
  format.bits = {static_cast<uint8_t>(d.x), static_cast<uint8_t>(d.y), static_cast<uint8_t>(d.z),
                 static_cast<uint8_t>(d.w)};
  format.kind = static_cast<ChannelFormat::Kind>(d.f);
  require(format.element_bytes() != 0, kErrorInvalidChannelDescriptor);
  return format;
}

TextureImage image_of(const Array& a) {
  return {reinterpret_cast<uint64_t>(a.memory),
          static_cast<uint32_t>(a.extent.width),
          static_cast<uint32_t>(a.rows()),
          static_cast<uint32_t>(a.slices()),
          a.pitch,
          a.pitch * a.rows()};
}

TextureImage linear_image(const LinearResource& linear, const ChannelFormat& format) {
  const auto address = reinterpret_cast<uint64_t>(linear.pointer);
  const size_t elements = linear.bytes / format.element_bytes();
  require(address != 0 && address % kTextureAlignment == 0 && elements != 0 &&
          elements <= kMaxLinearTexture);
  return {address, static_cast<uint32_t>(elements), 1, 1, 0, 0};
}

TextureImage pitch_image(const PitchResource& p, const ChannelFormat& format) {
  const auto address = reinterpret_cast<uint64_t>(p.pointer);
  require(address != 0 && address % kTextureAlignment == 0 && p.width != 0 && p.height != 0 &&
          p.width < kMaxLinearTexture && p.height < kMaxLinearTexture &&
          p.pitch % kTexturePitchAlignment == 0 && p.pitch >= p.width * format.element_bytes());
  return {address, static_cast<uint32_t>(p.width), static_cast<uint32_t>(p.height), 1, p.pitch, 0};
}

/// The channel format of a cudaResourceViewFormat. Numbers 1 to 24 are unsigned and signed bytes,
/// shorts and integers, halves and floats, each as vectors of 1, 2 and 4.
ChannelFormat view_format(int number) {
  struct Kind {
    uint8_t bits;
    ChannelFormat::Kind kind;
  };
  using K = ChannelFormat::Kind;
  static constexpr Kind kKinds[] = {{8, K::kUnsigned}, {8, K::kSigned},    {16, K::kUnsigned},
                                    {16, K::kSigned},  {32, K::kUnsigned}, {32, K::kSigned},
                                    {16, K::kFloat},   {32, K::kFloat}};
  static constexpr uint32_t kComponents[] = {1, 2, 4};
  require(number >= 1);
  if (number > 24) not_supported("views of block-compressed formats are");
  const auto i = static_cast<uint32_t>(number - 1);
  ChannelFormat format;
  for (uint32_t c = 0; c < 4; ++c)
    format.bits[c] = c < kComponents[i % 3] ? kKinds[i / 3].bits : uint8_t{0};
  format.kind = kKinds[i / 3].kind;
  return format;
}

void apply_view(DeviceTexture& d, const Array& array, const ResourceViewDesc& view) {
  require(view.width == array.extent.width && view.height == array.extent.height &&
          view.depth == array.extent.depth);
  if (view.format != 0) {
    const ChannelFormat format = view_format(view.format);
    require(format.element_bytes() == d.format.element_bytes());
    d.format = format;
  }
  require(view.first_level <= view.last_level && view.last_level < d.levels.size());
  d.levels = {d.levels.begin() + view.first_level, d.levels.begin() + view.last_level + 1};
  if ((array.flags & kArrayLayered) == 0) return;
  require(view.first_layer <= view.last_layer && view.last_layer < array.slices());
  for (TextureImage& image : d.levels) {
    image.address += view.first_layer * image.slice_bytes;
    image.depth = view.last_layer - view.first_layer + 1;
  }
}

/// Set how coordinates are addressed and texels are filtered.
void set_sampling(DeviceTexture& d, const TextureDesc& t, bool cube) {
  for (const int mode : t.address_mode) require(mode >= 0 && mode <= 3);
  require(t.filter_mode == 0 || t.filter_mode == 1);
  require(t.mipmap_filter_mode == 0 || t.mipmap_filter_mode == 1);
  require(t.read_mode == 0 || t.read_mode == 1);
  if (t.srgb != 0) not_supported("textures of sRGB are");
  const bool is_float = d.format.kind == ChannelFormat::Kind::kFloat;
  require(t.read_mode == 0 || is_float || d.format.bits[0] < 32, kErrorInvalidNormSetting);
  require(t.filter_mode == 0 || is_float || t.read_mode == 1, kErrorInvalidFilterSetting);
  require(d.levels.size() == 1 || t.normalized_coordinates != 0);
  require(t.seamless_cubemap == 0 || cube);
  if (t.seamless_cubemap != 0 && t.filter_mode != 0)
    not_supported("seamless filtering of cube maps is");
  for (size_t i = 0; i < 3; ++i)
    d.address[i] = t.seamless_cubemap != 0 ? DeviceTexture::Address::kClamp
                                           : static_cast<DeviceTexture::Address>(t.address_mode[i]);
  d.filter = static_cast<DeviceTexture::Filter>(t.filter_mode);
  d.mipmap_filter = static_cast<DeviceTexture::Filter>(t.mipmap_filter_mode);
  d.normalized_float = t.read_mode == 1 && !is_float;
  d.normalized_coordinates = t.normalized_coordinates != 0;
  std::copy(std::begin(t.border), std::end(t.border), d.border.begin());
  d.mipmap_bias = t.mipmap_bias;
  d.min_level = t.min_level;
  d.max_level = t.max_level;
}

/// A resource's array, of a mipmapped one the finest level; nullptr for linear memory.
const Array* array_of(const ResourceDesc& resource) {
  if (resource.type == kResourceArray) return &checked_array(resource.resource.array);
  if (resource.type == kResourceMipmappedArray)
    return checked_mipmapped(resource.resource.mipmapped).levels.front();
  return nullptr;
}

void set_image(DeviceTexture& d, const ResourceDesc& resource) {
  const auto& r = resource.resource;
  switch (resource.type) {
    case kResourceArray:
      d.format = format_of(checked_array(r.array).format);
      d.levels = {image_of(*r.array)};
      return;
    case kResourceMipmappedArray:
      d.format = format_of(array_of(resource)->format);
      d.levels.clear();
      for (const Array* level : checked_mipmapped(r.mipmapped).levels)
        d.levels.push_back(image_of(*level));
      return;
    case kResourceLinear:
      d.format = format_of(r.linear.format);
      d.levels = {linear_image(r.linear, d.format)};
      return;
    case kResourcePitch2D:
      d.format = format_of(r.pitch_2d.format);
      d.levels = {pitch_image(r.pitch_2d, d.format)};
      return;
    default:
      throw Failure{kErrorInvalidValue};
  }
}

/// Call `create`. If the virtual device rejects the description, print its reason and fail with
/// cudaErrorInvalidValue.
template <class Create>
uint64_t handle_or_failure(Create&& create) {
  try {
    return create();
  } catch (const Error& error) {
    say(error.what());
    throw Failure{kErrorInvalidValue};
  }
}

}  // namespace

uint64_t create_texture(Runtime& runtime, const ResourceDesc& resource, const TextureDesc& texture,
                        const ResourceViewDesc* view) {
  DeviceTexture d;
  set_image(d, resource);
  const Array* const array = array_of(resource);
  if (view != nullptr) {
    require(array != nullptr);
    apply_view(d, *array, *view);
  }
  set_sampling(d, texture, array != nullptr && (array->flags & kArrayCubemap) != 0);
  const uint64_t handle =
      handle_or_failure([&] { return runtime.device().create_texture(std::move(d)); });
  objects().textures[handle] = {resource, texture, view != nullptr,
                                view == nullptr ? ResourceViewDesc{} : *view};
  return handle;
}

const TextureObject& checked_texture(uint64_t handle) {
  const auto it = objects().textures.find(handle);
  require(it != objects().textures.end());
  return it->second;
}

void destroy_texture(Runtime& runtime, uint64_t handle) {
  checked_texture(handle);
  runtime.device().destroy_texture(handle);
  objects().textures.erase(handle);
}

uint64_t create_surface(Runtime& runtime, const ResourceDesc& resource) {
  require(resource.type == kResourceArray);
  const Array& array = checked_array(resource.resource.array);
  require((array.flags & kArraySurface) != 0);
  const uint64_t handle = handle_or_failure(
      [&] { return runtime.device().create_surface(image_of(array), format_of(array.format)); });
  objects().surfaces[handle] = resource;
  return handle;
}

const ResourceDesc& checked_surface(uint64_t handle) {
  const auto it = objects().surfaces.find(handle);
  require(it != objects().surfaces.end());
  return it->second;
}

void destroy_surface(Runtime& runtime, uint64_t handle) {
  checked_surface(handle);
  runtime.device().destroy_surface(handle);
  objects().surfaces.erase(handle);
}

void destroy_all_textures(Runtime& runtime) {
  for (const auto& [handle, object] : objects().textures) runtime.device().destroy_texture(handle);
  for (const auto& [handle, object] : objects().surfaces) runtime.device().destroy_surface(handle);
  objects() = {};
}

}  // namespace nearwarp::cudart
