// Entry points of texture and surface objects.
#include "host/functional/cudart/runtime/runtime.h"
#include "host/functional/cudart/runtime/textures.h"

using namespace nearwarp::cudart;

NW_API cudaCreateTextureObject(uint64_t* object, const ResourceDesc* resource,
                               const TextureDesc* texture, const ResourceViewDesc* view) {
  return api([&](Runtime& r) {
    require(object != nullptr && resource != nullptr && texture != nullptr);
    *object = create_texture(r, *resource, *texture, view);
    return kSuccess;
  });
}
NW_API cudaDestroyTextureObject(uint64_t object) {
  return api([&](Runtime& r) {
    destroy_texture(r, object);
    return kSuccess;
  });
}
NW_API cudaGetTextureObjectResourceDesc(ResourceDesc* resource, uint64_t object) {
  return api([&](Runtime&) {
    require(resource != nullptr);
    *resource = checked_texture(object).resource;
    return kSuccess;
  });
}
NW_API cudaGetTextureObjectTextureDesc(TextureDesc* texture, uint64_t object) {
  return api([&](Runtime&) {
    require(texture != nullptr);
    *texture = checked_texture(object).texture;
    return kSuccess;
  });
}
NW_API cudaGetTextureObjectResourceViewDesc(ResourceViewDesc* view, uint64_t object) {
  return api([&](Runtime&) {
    require(view != nullptr && checked_texture(object).has_view);
    *view = checked_texture(object).view;
    return kSuccess;
  });
}

NW_API cudaCreateSurfaceObject(uint64_t* object, const ResourceDesc* resource) {
  return api([&](Runtime& r) {
    require(object != nullptr && resource != nullptr);
    *object = create_surface(r, *resource);
    return kSuccess;
  });
}
NW_API cudaDestroySurfaceObject(uint64_t object) {
  return api([&](Runtime& r) {
    destroy_surface(r, object);
    return kSuccess;
  });
}
NW_API cudaGetSurfaceObjectResourceDesc(ResourceDesc* resource, uint64_t object) {
  return api([&](Runtime&) {
    require(resource != nullptr);
    *resource = checked_surface(object);
    return kSuccess;
  });
}

NW_API cudaDeviceGetTexture1DLinearMaxWidth(size_t* elements, const ChannelDesc* format,
                                            int device) {
  return api([&](Runtime& r) {
    require(elements != nullptr && format != nullptr);
    r.check_device(device);
    *elements = kMaxLinearTexture;
    return kSuccess;
  });
}
