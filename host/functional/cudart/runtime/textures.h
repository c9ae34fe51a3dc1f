// Texture and surface objects: checks their descriptions and creates them on the virtual device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/functional/cudart/abi.h"

namespace nearwarp::cudart {

class Runtime;

/// Alignment in bytes of linear textures, and of the pitch of two-dimensional ones.
inline constexpr size_t kTextureAlignment = 512, kTexturePitchAlignment = 32;
/// The most elements of a linear texture. Source: CUDA programming guide, technical specifications.
inline constexpr size_t kMaxLinearTexture = size_t{1} << 28;

/// The descriptions from which a texture object was made.
struct TextureObject {
  ResourceDesc resource;
  TextureDesc texture;
  bool has_view;
  ResourceViewDesc view;
};

/// Creates a texture object; `view` may be null. Throws Failure for a description that CUDA does
/// not allow, or that is not supported; the user is told of the latter.
uint64_t create_texture(Runtime& runtime, const ResourceDesc& resource, const TextureDesc& texture,
                        const ResourceViewDesc* view);
/// The descriptions of a texture object. Throws Failure if it is not a live object.
const TextureObject& checked_texture(uint64_t handle);
void destroy_texture(Runtime& runtime, uint64_t handle);

/// Surface objects have functions like those of textures; they are made of arrays with
/// kArraySurface.
uint64_t create_surface(Runtime& runtime, const ResourceDesc& resource);
const ResourceDesc& checked_surface(uint64_t handle);
void destroy_surface(Runtime& runtime, uint64_t handle);

/// Destroys all texture and surface objects, for a reset of the device.
void destroy_all_textures(Runtime& runtime);

}  // namespace nearwarp::cudart
