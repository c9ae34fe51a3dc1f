// Textures and surfaces of the virtual device.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace nearwarp::runtime {

/// Format of an element: bits of the components x, y, z, w (0: missing) and how to read them.
struct ChannelFormat {
  enum class Kind : uint8_t { kSigned, kUnsigned, kFloat };
  std::array<uint8_t, 4> bits = {32, 0, 0, 0};  ///< 8, 16 or 32, all equal
  Kind kind = Kind::kFloat;

  uint32_t components() const {
    uint32_t n = 0;
    while (n < 4 && bits[n] != 0) ++n;
    return n;
  }
  uint32_t element_bytes() const { return components() * bits[0] / 8; }
};

/// Elements in device memory, row after row.
struct TextureImage {
  uint64_t address = 0;  ///< device address
  uint32_t width = 1;    ///< elements of a row
  uint32_t height = 1;
  uint32_t depth = 1;        ///< slices, layers, or faces of a cube
  uint64_t pitch_bytes = 0;  ///< from row to row; 0: width times the element
  uint64_t slice_bytes = 0;  ///< from slice to slice; 0: height times the pitch
};

/// A texture as cudaTextureDesc and cudaResourceDesc describe it.
struct TextureDesc {
  enum class Address : uint8_t { kWrap, kClamp, kMirror, kBorder };
  enum class Filter : uint8_t { kPoint, kLinear };
  std::vector<TextureImage> levels = std::vector<TextureImage>(1);  ///< mipmap, finest first
  ChannelFormat format;
  std::array<Address, 3> address = {Address::kClamp, Address::kClamp, Address::kClamp};
  Filter filter = Filter::kPoint;
  Filter mipmap_filter = Filter::kPoint;
  bool normalized_float = false;  ///< integers are read as [0, 1] or [-1, 1]
  bool normalized_coordinates = false;
  std::array<float, 4> border = {};
  float mipmap_bias = 0, min_level = 0, max_level = 0;
};

/// Objects by handle.
class TextureTable {
 public:
  struct Surface {
    TextureImage image;
    ChannelFormat format;
  };
  uint64_t add(TextureDesc desc);
  uint64_t add(Surface surface);
  bool remove_texture(uint64_t handle) { return textures_.erase(handle) != 0; }
  bool remove_surface(uint64_t handle) { return surfaces_.erase(handle) != 0; }
  const TextureDesc* texture(uint64_t handle) const;
  const Surface* surface(uint64_t handle) const;

 private:
  uint64_t next_ = 1;
  std::map<uint64_t, TextureDesc> textures_;
  std::map<uint64_t, Surface> surfaces_;
};

/// The four components of one fetch, as bits of f32, s32 or u32.
struct Texel {
  std::array<uint32_t, 4> bits = {};
  uint64_t address = 0;  ///< of the texel, or of the first of those that were mixed
};

/// A fetch at (x, y, z) in `layer`; `level` is the mipmap level. `arena` is the host address of
/// device memory's first byte. Coordinates follow the CUDA programming guide's appendix on texture
/// fetching; weights of linear filtering have 8 fractional bits.
Texel sample(const TextureDesc& desc, const uint8_t* arena, std::array<float, 3> at,
             unsigned dimensions, uint32_t layer, float level);
/// A fetch by integer coordinates, unfiltered; outside: zero.
Texel fetch(const TextureDesc& desc, const uint8_t* arena, std::array<int64_t, 3> at,
            uint32_t layer, uint32_t level);
/// Does every sample() give one texel of the only level?
bool is_unfiltered(const TextureDesc& desc);

/// Fetches by some lanes: rows of coordinates and of results.
struct TexelLanes {
  uint32_t mask = 0;
  unsigned dimensions = 1;
  bool integers = false;  ///< as fetch(), else as sample(); of layer 0
  std::array<const uint32_t*, 3> coordinates = {};
  std::array<uint32_t*, 4> out = {};  ///< nullptr: discarded; may be rows of coordinates
  uint64_t* addresses = nullptr;
};
/// As sample() or fetch() for each lane, from a texture that is unfiltered: what all lanes have in
/// common is worked out once.
void unfiltered_lanes(const TextureDesc& desc, const uint8_t* arena, const TexelLanes& lanes);
/// One component of the four texels that linear filtering at (x, y) would mix.
Texel gather(const TextureDesc& desc, const uint8_t* arena, float x, float y, uint32_t component);
/// Face, and coordinates on it in [0, 1], of a direction.
std::array<float, 3> cube_face(float x, float y, float z);

}  // namespace nearwarp::runtime
