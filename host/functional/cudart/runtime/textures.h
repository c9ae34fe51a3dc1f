// Texture and surface objects: what the application describes, and what the virtual device makes
// of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/functional/cudart/abi.h"

namespace nearwarp::cudart {

class Runtime;

/// Bytes that linear textures are aligned to, and the pitch of those of two dimensions.
inline constexpr size_t kTextureAlignment = 512, kTexturePitchAlignment = 32;
/// Elements of a texture of linear memory (CUDA programming guide, technical specifications).
inline constexpr size_t kMaxLinearTexture = size_t{1} << 28;

/// The descriptions that a texture object was made of.
struct TextureObject {
  ResourceDesc resource;
  TextureDesc texture;
  bool has_view;
  ResourceViewDesc view;
};

/// Throws Failure for a description that CUDA does not allow, or that is not supported (which it
/// says). `view` may be null.
uint64_t create_texture(Runtime& runtime, const ResourceDesc& resource, const TextureDesc& texture,
                        const ResourceViewDesc* view);
/// Throws Failure unless it lives.
const TextureObject& checked_texture(uint64_t handle);
void destroy_texture(Runtime& runtime, uint64_t handle);

/// Surfaces are made and checked as textures are; they are arrays with the flag for them.
uint64_t create_surface(Runtime& runtime, const ResourceDesc& resource);
const ResourceDesc& checked_surface(uint64_t handle);
void destroy_surface(Runtime& runtime, uint64_t handle);

/// The device is reset.
void destroy_all_textures(Runtime& runtime);

}  // namespace nearwarp::cudart
