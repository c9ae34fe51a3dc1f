// Copies of tensors' boxes, step by step (cp.async.bulk.tensor, cp.reduce.async.bulk.tensor), and
// of rows of bytes to several blocks of a cluster.
#include "host/functional/instructions/tensor_ops.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "host/functional/instructions/atomic.h"
#include "host/functional/instructions/memory.h"
#include "host/functional/instructions/tensor_map.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::exec {

uint8_t* generic_place(Context& ctx, const MemDesc& access, uint32_t lane, uint64_t address,
                       uint32_t bytes) {
  if (address - kSharedGenericBase < kClusterBytes) {
    uint8_t* host = nullptr;
    return resolve_shared(ctx, access, lane, address - kSharedGenericBase, bytes, &host) ? host
                                                                                         : nullptr;
  }
  if (find_range(ctx, address, bytes) != nullptr) return ctx.arena + (address - kDeviceBase);
  set_fault(ctx, access, FaultKind::kInvalid, MemSpace::kGlobal, lane, address, bytes);
  return nullptr;
}

namespace {

using Kind = ExtendedDesc::Kind;
using Piece = std::array<uint64_t, TensorBox::kPiece>;  // addresses of its elements
using Along = ptx::TensorDetail::Along;
constexpr uint32_t kBytes = TensorBox::kPiece;
constexpr int32_t kMostWideOffset = 31;  ///< of an image along its width

ImageMode image_of(const ptx::TensorDetail& detail) {
  if (!detail.im2col) return ImageMode::kNone;
  return detail.along == Along::kWidth      ? ImageMode::kWidth
         : detail.along == Along::kWidth128 ? ImageMode::kWidth128
                                            : ImageMode::kBox;
}

/// An access to an element by an atomic operation.
MemDesc atomic_access(TensorType type, AtomOp op) {
  MemDesc desc;
  desc.atomic = op;
  desc.is_store = 1;
  desc.is_signed = type == TensorType::kS32 || type == TensorType::kS64;
  desc.is_float = type == TensorType::kF16    ? 2
                  : type == TensorType::kBF16 ? 4
                  : type > TensorType::kF16   ? 1
                                              : 0;
  return desc;
}

template <class U>
void combine(const MemDesc& desc, uint8_t* to, const uint8_t* from) {
  U old, operand;
  std::memcpy(&old, to, sizeof(U));
  std::memcpy(&operand, from, sizeof(U));
  const U now = atomic_result<U>(desc, old, operand, U{});
  std::memcpy(to, &now, sizeof(U));
}

/// Addresses by which the records of a run of pieces name the sectors that it touches: that of each
/// piece, and one of each sector that a piece reaches and the next one does not begin in.
class TouchedSectors {
 public:
  /// The elements of a piece, in order; those outside of the tensor touch nothing.
  void add(const Piece& at, uint32_t elements) {
    const uint64_t from = first_of(at, elements);
    if (from == TensorBox::kOutside) return;
    leave(from / kSector);
    list_[size_++] = from;
    uint64_t last = from / kSector;
    for (uint32_t e = 0; e < elements; ++e) {
      if (at[e] == TensorBox::kOutside || at[e] / kSector == last) continue;
      leave(kNone);
      reached_ = last = at[e] / kSector;
    }
  }
  /// The piece behind the last one is another run's.
  void before(const Piece& at, uint32_t elements) {
    if (first_of(at, elements) / kSector == reached_) reached_ = kNone;
  }
  /// The addresses of the record `number`; each has kLanes. Where one would not do, a sector
  /// that comes twice running is named once.
  uint32_t store(uint32_t number, uint64_t (&addresses)[kLanes]) {
    leave(kNone);
    if (size_ > kLanes) {
      const auto same = [](uint64_t a, uint64_t b) { return a / kSector == b / kSector; };
      size_ = static_cast<uint32_t>(std::unique(list_.begin(), list_.begin() + size_, same) -
                                    list_.begin());
    }
    const uint32_t first = std::min(number * kLanes, size_), n = std::min(size_ - first, kLanes);
    std::copy_n(list_.begin() + first, n, addresses);
    return n;
  }

 private:
  static constexpr uint64_t kSector = 32, kNone = ~uint64_t{0};
  static uint64_t first_of(const Piece& at, uint32_t elements) {
    const auto* const end = at.begin() + elements;
    const auto* const known =
        std::find_if(at.begin(), end, [](uint64_t a) { return a != TensorBox::kOutside; });
    return known != end ? *known : TensorBox::kOutside;
  }
  void leave(uint64_t for_sector) {
    if (reached_ != kNone && reached_ != for_sector) list_[size_++] = reached_ * kSector;
    reached_ = kNone;
  }
  std::array<uint64_t, size_t{kLanes} * kBytes> list_;
  uint32_t size_ = 0;
  uint64_t reached_ = kNone;  ///< a sector that the last piece reaches
};

/// One lane's copy: by a map, or, without one, of a row of bytes.
class Copy {
 public:
  // Sources: the map or the row's address, shared memory, the step, the mask of blocks, and
  // coordinates or the row's bytes.
  Copy(Context& ctx, Warp& warp, const ExtendedDesc& desc, uint32_t lane)
      : ctx_(ctx),
        warp_(warp),
        desc_(desc),
        detail_(ptx::TensorDetail::unpack(desc.detail)),
        lane_(lane) {
    access_.instruction = desc.instruction;
    access_.is_store = desc.kind != Kind::kTensorLoad;
  }

  /// Reads the map; false on a fault.
  bool open() {
    const uint64_t at = row<uint64_t>(warp_.rows, desc_.sources[0])[lane_];
    if (detail_.dimensions == 0) {
      row_ = at;
      return true;
    }
    MemDesc read = access_;
    read.is_store = 0;
    const uint8_t* const place = generic_place(ctx_, read, lane_, at, sizeof(map_));
    if (place == nullptr) return false;
    std::memcpy(&map_, place, sizeof(map_));
    const bool fits = map_.magic == TensorMap::kMagic && map_.dimensions == detail_.dimensions &&
                      map_.image() == image_of(detail_) &&
                      (!detail_.four_rows || map_.box[1] == 1) && map_.is_usable();
    if (!fits || at % 64 != 0) {
      ctx_.fault = Fault{};
      ctx_.fault.kind = FaultKind::kBadTexture;
      ctx_.fault.is_tensor_map = true;
      ctx_.fault.lane = lane_;
      ctx_.fault.address = at;
      ctx_.fault.instruction = desc_.instruction;
      return false;
    }
    return true;
  }

  /// `more`: pixels that are copied besides, of images along their width.
  uint32_t map_pieces(uint32_t more) const {
    return TensorBox::pieces_of(map_, more) * (detail_.four_rows ? 4 : 1);
  }
  /// The pieces of a box, for kTensorSize, whose second source says how many pixels more there are.
  uint32_t size() const { return map_pieces(wide() ? more_pixels(word(1)) : 0); }
  /// The steps for a run of kLanes pieces: the first one moves them, and each leaves a record.
  uint32_t steps_of_run() const {
    return detail_.dimensions != 0 ? TensorBox::sectors_of_piece(map_) : 1;
  }

  /// One of the steps of a run of pieces.
  bool step(uint64_t (&addresses)[kLanes], uint32_t* recorded) {
    const uint32_t each_run = steps_of_run(), number = word(2) % each_run;
    const uint32_t first = word(2) / each_run * kLanes;
    std::array<int32_t, 8> coordinates{};
    const uint32_t n = desc_.num_sources - 4u;
    for (uint32_t i = 0; i < n && i < coordinates.size(); ++i)
      coordinates[i] = static_cast<int32_t>(word(4 + i));
    std::optional<TensorBox> box;
    uint32_t count = word(4) / kBytes, each = count;  // of a row; of a box
    if (detail_.dimensions != 0) {
      if (!aligned()) return false;
      const uint32_t offsets =
          detail_.has_offsets ? std::min<uint32_t>(n - detail_.dimensions, 3) : 0;
      uint32_t more = 0;
      if (wide()) {
        int32_t* const place = coordinates.data() + detail_.dimensions;
        more = more_pixels(static_cast<uint32_t>(place[0]));
        place[0] = static_cast<int32_t>(more);
        place[1] &= kMostWideOffset;
      }
      box.emplace(map_, std::span(coordinates.data(), detail_.dimensions),
                  std::span(coordinates.data() + detail_.dimensions, offsets));
      each = box->pieces();
      count = map_pieces(more);
    }
    const auto find = [&](uint32_t p, Piece& at) -> uint32_t {
      at[0] = row_ + p * kBytes;
      if (!box) return 1;
      if (detail_.four_rows) {  // boxes of one row each
        const std::array<int32_t, 2> place = {coordinates[0], coordinates[1 + p / each]};
        box.emplace(map_, place, std::span<const int32_t>());
      }
      return box->elements(p % each, at);
    };
    const uint32_t end = std::min(count, first + kLanes);
    Piece at;
    TouchedSectors touched;
    for (uint32_t p = first; p < end; ++p) {
      uint32_t elements = find(p, at), bytes = kBytes, offset = p * kBytes;
      Swizzle swizzle = Swizzle::kNone;
      if (box) {
        bytes = map_.element_bytes();
        offset = p / each * box->pitch() + box->offset(p % each);
        swizzle = map_.swizzle;
      }
      touched.add(at, elements);
      if (number != 0) continue;  // they have been moved
      // Neighbours are moved together.
      if (box && box->contiguous() && desc_.kind != Kind::kTensorReduce &&
          at[0] != TensorBox::kOutside && at[elements - 1] != TensorBox::kOutside)
        elements = 1, bytes = kBytes;
      if (!move(at, elements, bytes, offset, swizzle)) return false;
    }
    if (end < count) {
      const uint32_t elements = find(end, at);
      touched.before(at, elements);
    }
    *recorded = touched.store(number, addresses);
    return true;
  }

 private:
  uint32_t word(uint32_t i) const { return row<uint32_t>(warp_.rows, desc_.sources[i])[lane_]; }
  /// Boxes begin at multiples of 128 bytes of shared memory (CUDA programming guide, "Tensor memory
  /// access": alignment of multi-dimensional copies).
  bool aligned() {
    constexpr uint32_t kAlign = 128;
    if (word(1) % kAlign == 0) return true;
    MemDesc access = access_;
    access.is_store = desc_.kind == Kind::kTensorLoad;
    set_fault(ctx_, access, FaultKind::kMisaligned, MemSpace::kShared, lane_,
              word(1) & (kWindowBytes - 1), kAlign);
    return false;
  }
  bool wide() const { return detail_.along != Along::kAll; }
  /// Pixels that a copy along the width may have besides; what PTX leaves undefined is cut off.
  uint32_t more_pixels(uint32_t wanted) const {
    return wanted & (detail_.along == Along::kWidth128 ? 31 : 511);
  }

  /// A piece of shared memory at an offset from where the copy begins, in the block whose window
  /// `window` is; nullptr on a fault.
  uint8_t* shared(uint32_t window, uint32_t offset, Swizzle swizzle) {
    const uint32_t within = word(1) & (kWindowBytes - 1);
    const uint64_t at =
        uint64_t{window} << kWindowBits | swizzled(swizzle, uint64_t{within} + offset);
    uint8_t* host = nullptr;
    MemDesc access = access_;
    access.is_store = desc_.kind == Kind::kTensorLoad;
    return resolve_shared(ctx_, access, lane_, at, kBytes, &host) ? host : nullptr;
  }

  void look(uint8_t* host, uint32_t bytes, bool write, const uint8_t* value) {
    if (ctx_.checker == nullptr) return;
    // Neighbours that are moved together need not lie where a piece of theirs does.
    if (bytes > 1 && reinterpret_cast<uintptr_t>(host) % bytes != 0) {
      const uint32_t half = bytes / 2;
      look(host, half, write, value);
      look(host + half, half, write, value != nullptr ? value + half : nullptr);
      return;
    }
    tell_copy(ctx_, warp_,
              {desc_.instruction, lane_, host, bytes, write,
               write && desc_.kind == Kind::kTensorLoad, value,
               write || desc_.kind == Kind::kTensorLoad ? CopiedBytes::Late::kNo
                                                        : CopiedBytes::Late::kStore});
  }

  uint8_t* device(uint64_t address, uint32_t bytes) {
    if (address - last_.lo < last_.bytes && bytes <= last_.bytes - (address - last_.lo))
      return ctx_.arena + (address - kDeviceBase);
    const Range* const range = find_range(ctx_, address, bytes);
    if (range != nullptr) {
      last_ = *range;
      return ctx_.arena + (address - kDeviceBase);
    }
    set_fault(ctx_, access_, FaultKind::kInvalid, MemSpace::kGlobal, lane_, address, bytes);
    return nullptr;
  }

  bool move(const Piece& at, uint32_t elements, uint32_t bytes, uint32_t offset, Swizzle swizzle) {
    return desc_.kind == Kind::kTensorLoad ? load(at, elements, bytes, offset, swizzle)
                                           : store(at, elements, bytes, offset, swizzle);
  }

  bool load(const Piece& at, uint32_t elements, uint32_t bytes, uint32_t offset, Swizzle swizzle) {
    uint8_t piece[kBytes];
    const uint64_t fill = detail_.dimensions != 0 ? fill_of(map_) : 0;
    for (uint32_t e = 0; e < elements; ++e) {
      if (at[e] == TensorBox::kOutside) {
        std::memcpy(piece + e * bytes, &fill, bytes);
        continue;
      }
      uint8_t* const from = device(at[e], bytes);
      if (from == nullptr) return false;
      look(from, bytes, false, nullptr);
      std::memcpy(piece + e * bytes, from, bytes);
      flush(piece + e * bytes, bytes);
    }
    if (!detail_.multicast) return put(word(1) >> kWindowBits, offset, swizzle, piece);
    for (uint32_t blocks = word(3) & 0xffff; blocks != 0; blocks &= blocks - 1)
      if (!put(static_cast<uint32_t>(__builtin_ctz(blocks)) + 1, offset, swizzle, piece))
        return false;
    return true;
  }
  /// Elements of .tf32 and of flushed .f32 lose what they do not have on the way.
  void flush(uint8_t* piece, uint32_t bytes) const {
    if (detail_.dimensions == 0) return;
    const bool cut = map_.type == TensorType::kTF32 || map_.type == TensorType::kTF32Flushed;
    const bool flushed =
        map_.type == TensorType::kF32Flushed || map_.type == TensorType::kTF32Flushed;
    if (!cut && !flushed) return;
    for (uint32_t i = 0; i < bytes; i += 4) {
      uint32_t v;
      std::memcpy(&v, piece + i, 4);
      if (flushed && (v & 0x7f800000u) == 0) v &= 0x80000000u;
      if (cut) v &= 0xffffe000u;
      std::memcpy(piece + i, &v, 4);
    }
  }
  bool put(uint32_t window, uint32_t offset, Swizzle swizzle, const uint8_t* piece) {
    uint8_t* const to = shared(window, offset, swizzle);
    if (to == nullptr) return false;
    look(to, kBytes, true, piece);
    std::memcpy(to, piece, kBytes);
    ctx_.stored = true;
    return true;
  }

  bool store(const Piece& at, uint32_t elements, uint32_t bytes, uint32_t offset, Swizzle swizzle) {
    uint8_t* const from = shared(word(1) >> kWindowBits, offset, swizzle);
    if (from == nullptr) return false;
    look(from, kBytes, false, nullptr);
    for (uint32_t e = 0; e < elements; ++e) {
      if (at[e] == TensorBox::kOutside) continue;
      uint8_t* const to = device(at[e], bytes);
      if (to == nullptr) return false;
      look(to, bytes, true, from + e * bytes);
      if (desc_.kind == Kind::kTensorStore)
        std::memcpy(to, from + e * bytes, bytes);
      else
        reduce(to, from + e * bytes, bytes);
      ctx_.stored = true;
    }
    return true;
  }
  void reduce(uint8_t* to, const uint8_t* from, uint32_t bytes) const {
    MemDesc desc = atomic_access(map_.type, static_cast<AtomOp>(desc_.atomic));
    desc.bytes = static_cast<uint8_t>(bytes);
    if (bytes == 8)
      combine<uint64_t>(desc, to, from);
    else if (bytes == 4)
      combine<uint32_t>(desc, to, from);
    else if (bytes == 2)
      combine<uint16_t>(desc, to, from);
  }

  Context& ctx_;
  Warp& warp_;
  const ExtendedDesc& desc_;
  const ptx::TensorDetail detail_;
  const uint32_t lane_;
  MemDesc access_;
  TensorMap map_;
  uint64_t row_ = 0;
  Range last_;  ///< the allocation that was last touched
};

}  // namespace

bool tensor(Context& ctx, Warp& warp, const ExtendedDesc& desc, uint32_t mask) {
  if (desc.kind == Kind::kTensorSize) {
    for (uint32_t m = mask; m != 0; m &= m - 1) {
      const auto lane = static_cast<uint32_t>(__builtin_ctz(m));
      Copy copy(ctx, warp, desc, lane);
      if (!copy.open()) return false;
      const uint32_t pieces = copy.size();
      if (desc.destinations[0] != kNoRow)
        row<uint32_t>(warp.rows, desc.destinations[0])[lane] =
            (pieces + kLanes - 1) / kLanes * copy.steps_of_run();
      if (desc.num_destinations > 1 && desc.destinations[1] != kNoRow)
        row<uint32_t>(warp.rows, desc.destinations[1])[lane] = pieces * kBytes;
    }
    return true;
  }
  uint64_t addresses[kLanes] = {};
  uint32_t recorded = 0;
  // The compiler has one lane execute this at a time.
  if (mask != 0) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(mask));
    Copy copy(ctx, warp, desc, lane);
    if (!copy.open() || !copy.step(addresses, &recorded)) return false;
  }
  if (warp.trace == nullptr) return true;
  const uint32_t lanes = recorded == kLanes ? kFullMask : (1u << recorded) - 1;
  warp.trace[warp.trace_size++] = lanes;
  if (lanes != 0)
    warp.trace_size += trace::write_record(warp.trace + warp.trace_size, lanes, addresses);
  return true;
}

}  // namespace nearwarp::exec
