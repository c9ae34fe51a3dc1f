// Texture and surface objects of the virtual CUDA device.
#include <fmt/format.h>

#include <utility>

#include "host/functional/device/virtual_device_state.h"

namespace nearwarp::runtime {

void VirtualDevice::Impl::check_image(const TextureImage& image,
                                      const ChannelFormat& format) const {
  const uint32_t n = format.components(), bits = format.bits[0];
  bool ok = n == 1 || n == 2 || n == 4;
  ok =
      ok && (bits == 32 || bits == 16 || (bits == 8 && format.kind != ChannelFormat::Kind::kFloat));
  for (uint32_t i = 0; i < 4; ++i) ok = ok && format.bits[i] == (i < n ? bits : 0);
  if (!ok)
    throw Error(
        fmt::format("no texture has elements of {}, {}, {}, {} bits - 1, 2 or 4 components "
                    "of 8, 16 or 32 bits",
                    format.bits[0], format.bits[1], format.bits[2], format.bits[3]));
  constexpr uint32_t kMaxExtent = 1u << 28;
  if (image.width == 0 || image.height == 0 || image.depth == 0 || image.width > kMaxExtent ||
      image.height > kMaxExtent || image.depth > kMaxExtent)
    throw Error(fmt::format("a texture of {} x {} x {} elements - 1 to {} in each direction",
                            image.width, image.height, image.depth, kMaxExtent));
  const uint64_t row = uint64_t{image.width} * format.element_bytes();
  const uint64_t pitch = image.pitch_bytes != 0 ? image.pitch_bytes : row;
  const uint64_t slice = image.slice_bytes != 0 ? image.slice_bytes : pitch * image.height;
  if (pitch < row || slice < pitch || pitch > options.memory_bytes || slice > options.memory_bytes)
    throw Error(fmt::format("a texture with rows of {} bytes, {} bytes apart", row, pitch));
  if ((image.depth - 1) > options.memory_bytes / slice ||
      (image.height - 1) > options.memory_bytes / pitch)
    throw Error("a texture larger than the device's memory");
  memory.host(image.address, (image.depth - 1) * slice + (image.height - 1) * pitch + row,
              "texture");
}

uint64_t VirtualDevice::create_texture(TextureDesc desc) {
  if (desc.levels.empty()) throw Error("a texture without a level - at least one image");
  for (const TextureImage& image : desc.levels) impl_->check_image(image, desc.format);
  return impl_->textures.add(std::move(desc));
}
uint64_t VirtualDevice::create_surface(TextureImage image, ChannelFormat format) {
  impl_->check_image(image, format);
  // Kernels write to the memory through the surface, and these writes are not noted one by one.
  if (const Allocation* a = impl_->memory.find(image.address); a != nullptr)
    impl_->memory.note_written(a->address, a->bytes);
  return impl_->textures.add(TextureTable::Surface{image, format});
}
void VirtualDevice::destroy_texture(uint64_t handle) {
  if (!impl_->textures.remove_texture(handle))
    throw Error(fmt::format("{:#x} is no texture object", handle));
}
void VirtualDevice::destroy_surface(uint64_t handle) {
  if (!impl_->textures.remove_surface(handle))
    throw Error(fmt::format("{:#x} is no surface object", handle));
}

}  // namespace nearwarp::runtime
