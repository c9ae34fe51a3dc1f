// What a WordRouter has (word_router.h): where its parts are, and who has to do what.
#pragma once

#include "device/noc/pipeline.h"
#include "device/noc/trains.h"

namespace nearwarp::noc::router_detail {

/// log2 of ports, virtual channels and flits of a buffer of a usual network, and its time slots
/// (is_usual() in router.h).
inline constexpr uint32_t kUsualShift = 3;
NW_HD constexpr uint32_t usual_slots(bool trains) { return trains ? 16 : 8; }

/// kUsual: of a usual network, whose addresses are made without asking for its strides. kTrains: of
/// one whose terminals send trains.
template <bool kUsual, bool kTrains>
class WordState {
 public:
  /// `head_delay`: cycles from a head's beginning to its first request.
  NW_HD NW_INLINE WordState(const NetworkView& v, uint32_t r, uint32_t head_delay)
      : v_(v),
        r_(r),
        head_delay_(head_delay),
        block_(v.units + size_t{r} * layout().bytes),
        ports_(v.out_ports + (size_t{r} << output_shift())),
        due_(v.due + r / 64 * slots()) {}

 protected:
  static constexpr uint32_t kShift = kUsualShift;
  NW_HD NW_INLINE uint32_t vc_shift() const { return kUsual ? kShift : v_.p.vc_shift; }
  NW_HD NW_INLINE uint32_t input_shift() const { return kUsual ? kShift : v_.p.input_shift; }
  NW_HD NW_INLINE uint32_t output_shift() const { return kUsual ? kShift : v_.p.output_shift; }
  NW_HD NW_INLINE uint32_t slots() const { return kUsual ? usual_slots(kTrains) : v_.p.slots; }
  NW_HD NW_INLINE uint32_t slot_mask() const { return slots() - 1; }
  NW_HD NW_INLINE BlockLayout layout() const {
    constexpr uint32_t kSize = 1u << kShift;
    constexpr BlockLayout kLayout = block_layout(usual_slots(kTrains) * 2, kSize, kSize, kSize,
                                                 kSize, kTrains ? kSize * kSize : 0);
    return kUsual ? kLayout : v_.layout;
  }
  NW_HD NW_INLINE static uint64_t bit(uint32_t n) { return uint64_t{1} << n; }
  NW_HD NW_INLINE uint32_t ahead(uint32_t place, uint32_t n) const {
    if (!kUsual) return place_ahead(v_.p, place, n);
    constexpr uint32_t kRing = sizeof(Flit) << kShift;
    return (place & ~(kRing - 1)) | ((place + n * sizeof(Flit)) & (kRing - 1));
  }
  // What the block has.
  NW_HD NW_INLINE RouterWork& work() const {
    return *reinterpret_cast<RouterWork*>(block_ + layout().work);
  }
  NW_HD NW_INLINE InputVc& input(uint32_t vc) const {
    return reinterpret_cast<InputVc*>(block_ + layout().inputs)[vc];
  }
  NW_HD NW_INLINE OutputVc& output(uint32_t vc) const {
    return reinterpret_cast<OutputVc*>(block_ + layout().outputs)[vc];
  }
  NW_HD NW_INLINE FlitTrain& train(uint32_t vc) const {
    return reinterpret_cast<FlitTrain*>(block_ + layout().trains)[vc];
  }
  NW_HD NW_INLINE SwitchLast& last(uint32_t port) const {
    return reinterpret_cast<SwitchLast*>(block_ + layout().lasts)[port];
  }
  /// Of cycle `t`: virtual channels that a flit reaches, and those whose head asks for a channel.
  NW_HD NW_INLINE uint64_t* coming_in(Cycle t) const {
    return reinterpret_cast<uint64_t*>(block_) + (t & slot_mask()) * 2;
  }
  /// It has something to do in cycle `t`.
  NW_HD NW_INLINE void mark_due(Cycle t) const { add_bits(due_ + (t & slot_mask()), bit(r_ % 64)); }

  /// The packet of `vc` lacks a credit for `place`.
  NW_HD NW_INLINE void stall(uint32_t vc, Flit& place) const {
    work().stalled |= bit(vc);
    await_apart(v_, r_, place);
  }
  /// Heads that ask for a channel from cycle `due` on.
  NW_HD NW_INLINE void begin_later(uint64_t heads, Cycle due) const {
    coming_in(due)[1] |= heads;
    mark_due(due);
  }

  const NetworkView& v_;
  uint32_t r_;
  uint32_t head_delay_;
  Cycle t_ = 0;
  std::byte* block_;
  OutputPort* ports_;
  uint64_t* due_;  ///< its word of flags, by slot
};

}  // namespace nearwarp::noc::router_detail
