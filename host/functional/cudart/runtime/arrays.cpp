// CUDA arrays.
#include "host/functional/cudart/runtime/arrays.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace nearwarp::cudart {

namespace {

constexpr size_t kRowGranule = 32;
constexpr int kFloatChannels = 2;  // cudaChannelFormatKindFloat
constexpr size_t kMostElements = size_t{1} << 40;

std::unordered_map<const Array*, std::unique_ptr<Array>>& arrays() {
  static auto* const all = new std::unordered_map<const Array*, std::unique_ptr<Array>>;
  return *all;
}

std::unordered_map<const MipmappedArray*, std::unique_ptr<MipmappedArray>>& mipmapped_arrays() {
  static auto* const all =
      new std::unordered_map<const MipmappedArray*, std::unique_ptr<MipmappedArray>>;
  return *all;
}

void check_format(const ChannelDesc& format) {
  const int components[] = {format.x, format.y, format.z, format.w};
  int count = 0;
  while (count < 4 && components[count] != 0) ++count;
  bool ok = format.f >= 0 && format.f <= 2 && (count == 1 || count == 2 || count == 4) &&
            (format.x == 8 || format.x == 16 || format.x == 32) &&
            !(format.f == kFloatChannels && format.x == 8);
  for (int i = 0; i < 4; ++i) ok = ok && components[i] == (i < count ? format.x : 0);
  require(ok, kErrorInvalidChannelDescriptor);
}

void check_extent(Extent extent, unsigned flags) {
  require(extent.width != 0 && extent.width < kMostElements && extent.height < kMostElements &&
          extent.depth < kMostElements);
  if ((flags & ~(kArrayLayered | kArraySurface | kArrayCubemap | kArrayGather)) != 0) {
    say_once("arrays may be layered, cube maps, for surfaces and for gathers: no other flags");
    throw Failure{kErrorNotSupported};
  }
  const bool layered = (flags & kArrayLayered) != 0, cube = (flags & kArrayCubemap) != 0;
  require(extent.depth == 0 || extent.height != 0 || layered);
  require(!layered || extent.depth != 0);
  if (cube)
    require(extent.width == extent.height && extent.depth % 6 == 0 && extent.depth != 0 &&
            (layered || extent.depth == 6));
  require((flags & kArrayGather) == 0 || (extent.height != 0 && extent.depth == 0));
}

}  // namespace

Array* create_array(Runtime& runtime, const ChannelDesc& format, Extent extent, unsigned flags) {
  check_format(format);
  check_extent(extent, flags);
  const int bits = format.x + format.y + format.z + format.w;
  auto array = std::make_unique<Array>();
  array->format = format;
  array->extent = extent;
  array->flags = flags;
  array->element_bytes = static_cast<size_t>(bits) / 8;
  array->pitch =
      (extent.width * array->element_bytes + kRowGranule - 1) / kRowGranule * kRowGranule;
  const double bytes = static_cast<double>(array->pitch) * static_cast<double>(array->rows()) *
                       static_cast<double>(array->slices());
  require(bytes < 1e12, kErrorMemoryAllocation);
  array->memory = static_cast<char*>(runtime.memory.allocate(
      runtime, array->pitch * array->rows() * array->slices(), Memory::Kind::kDevice));
  runtime.order.host_waited();  // as for cudaMalloc()
  Array* const handle = array.get();
  arrays().emplace(handle, std::move(array));
  return handle;
}

void destroy_array(Runtime& runtime, Array* array) {
  runtime.memory.free(runtime, checked_array(array).memory, false);
  runtime.order.host_waited();
  arrays().erase(array);
}

Array& checked_array(const Array* array) {
  const auto it = arrays().find(array);
  require(it != arrays().end(), kErrorInvalidResourceHandle);
  return *it->second;
}

MipmappedArray* create_mipmapped(Runtime& runtime, const ChannelDesc& format, Extent extent,
                                 unsigned levels, unsigned flags) {
  check_extent(extent, flags);
  const bool layered = (flags & (kArrayLayered | kArrayCubemap)) != 0;
  const size_t longest = std::max({extent.width, extent.height, layered ? 0 : extent.depth});
  levels = std::clamp(levels, 1u, static_cast<unsigned>(std::bit_width(longest)));
  const auto half = [](size_t n) { return n == 0 ? 0 : std::max<size_t>(n / 2, 1); };
  auto mipmapped = std::make_unique<MipmappedArray>();
  try {
    for (unsigned i = 0; i < levels; ++i) {
      mipmapped->levels.push_back(create_array(runtime, format, extent, flags));
      mipmapped->levels.back()->is_level = true;
      extent = {half(extent.width), half(extent.height),
                layered ? extent.depth : half(extent.depth)};
    }
  } catch (const Failure&) {  // without memory for all levels there are none
    for (Array* level : mipmapped->levels) destroy_array(runtime, level);
    throw;
  }
  MipmappedArray* const handle = mipmapped.get();
  mipmapped_arrays().emplace(handle, std::move(mipmapped));
  return handle;
}

void destroy_mipmapped(Runtime& runtime, MipmappedArray* array) {
  for (Array* level : checked_mipmapped(array).levels) destroy_array(runtime, level);
  mipmapped_arrays().erase(array);
}

MipmappedArray& checked_mipmapped(const MipmappedArray* array) {
  const auto it = mipmapped_arrays().find(array);
  require(it != mipmapped_arrays().end(), kErrorInvalidResourceHandle);
  return *it->second;
}

void forget_arrays() {
  arrays().clear();
  mipmapped_arrays().clear();
}

Box box_in(const Array& a, Position position, size_t width_bytes, size_t height, size_t depth) {
  const size_t row_bytes = a.extent.width * a.element_bytes;
  require(position.x <= a.extent.width && position.y <= a.rows() && position.z <= a.slices());
  const size_t x = position.x * a.element_bytes;
  require(width_bytes <= row_bytes - x && height <= a.rows() - position.y &&
          depth <= a.slices() - position.z);
  const size_t slice = a.pitch * a.rows();
  return {a.memory + position.z * slice + position.y * a.pitch + x, a.pitch, slice};
}

void copy_box(Runtime& runtime, const Box& dst, const Box& src, size_t width_bytes, size_t height,
              size_t depth, int kind) {
  if (width_bytes == 0 || height == 0 || depth == 0) return;
  require(height == 1 || (dst.pitch >= width_bytes && src.pitch >= width_bytes),
          kErrorInvalidPitchValue);
  const bool whole =
      dst.pitch == width_bytes && src.pitch == width_bytes && height <= SIZE_MAX / width_bytes;
  for (size_t z = 0; z < depth; ++z) {
    char* to = dst.start + z * dst.slice;
    const char* from = src.start + z * src.slice;
    const size_t rows = whole ? 1 : height, bytes = whole ? width_bytes * height : width_bytes;
    for (size_t y = 0; y < rows; ++y)
      runtime.memory.copy(runtime, to + y * dst.pitch, from + y * src.pitch, bytes, kind);
  }
}

}  // namespace nearwarp::cudart
