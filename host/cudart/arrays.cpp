// CUDA arrays.
#include "host/cudart/arrays.h"

#include <memory>
#include <unordered_map>

namespace nearwarp::cudart {

namespace {

constexpr size_t kRowGranule = 32;
constexpr size_t kMostElements = size_t{1} << 40;

std::unordered_map<const Array*, std::unique_ptr<Array>>& arrays() {
  static auto* const all = new std::unordered_map<const Array*, std::unique_ptr<Array>>;
  return *all;
}

}  // namespace

Array* create_array(Runtime& runtime, const ChannelDesc& format, Extent extent, unsigned flags) {
  const int bits = format.x + format.y + format.z + format.w;
  for (const int b : {format.x, format.y, format.z, format.w})
    require(b == 0 || b == 8 || b == 16 || b == 32, kErrorInvalidChannelDescriptor);
  require(bits != 0 && bits % 8 == 0 && format.f >= 0 && format.f <= 2,
          kErrorInvalidChannelDescriptor);
  require(extent.width != 0 && extent.width < kMostElements && extent.height < kMostElements &&
          extent.depth < kMostElements);
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
  Array* const handle = array.get();
  arrays().emplace(handle, std::move(array));
  return handle;
}

void destroy_array(Runtime& runtime, Array* array) {
  runtime.memory.free(runtime, checked_array(array).memory, false);
  arrays().erase(array);
}

Array& checked_array(const Array* array) {
  const auto it = arrays().find(array);
  require(it != arrays().end(), kErrorInvalidResourceHandle);
  return *it->second;
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
  const bool whole = dst.pitch == width_bytes && src.pitch == width_bytes;
  for (size_t z = 0; z < depth; ++z) {
    char* to = dst.start + z * dst.slice;
    const char* from = src.start + z * src.slice;
    const size_t rows = whole ? 1 : height, bytes = whole ? width_bytes * height : width_bytes;
    for (size_t y = 0; y < rows; ++y)
      runtime.memory.copy(runtime, to + y * dst.pitch, from + y * src.pitch, bytes, kind);
  }
}

}  // namespace nearwarp::cudart
