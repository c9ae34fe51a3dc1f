// Counts stores in flight by epoch, so that a warp can wait until all stores so far are in memory
// while new ones keep being sent. (A mechanism that moves a warp to another SM first has this SM's
// stores reach memory.)
#pragma once

#include "device/sm/sm_view.h"

namespace nearwarp::sm {

/// Count a store that has been issued, and return its epoch. The store itself counts until all its
/// lines have been sent, which keeps its epoch open for them; each line counts from when it is sent
/// until it is acknowledged.
template <class S>
NW_HD inline uint32_t add_store(S& s) {
  s.epoch_stores[s.epoch % kEpochs] += 1;
  return s.epoch;
}

/// Retire epochs without stores in flight; the current one stays.
template <class S>
NW_HD inline void retire_epochs(S& s) {
  while (s.oldest_epoch != s.epoch && s.epoch_stores[s.oldest_epoch % kEpochs] == 0)
    s.oldest_epoch += 1;
}

/// Begin waiting for every store issued so far: returns the epoch whose end to await. If all epochs
/// are in use the current one stays open: it then waits for some later stores too, which is safe
/// (deviation 33 in tests/validation/DEVIATIONS.md).
template <class S>
NW_HD inline uint32_t begin_drain(S& s) {
  retire_epochs(s);
  if (s.epoch_stores[s.epoch % kEpochs] == 0) return s.epoch - 1;  // perhaps ended already
  const uint32_t epoch = s.epoch;
  if (s.epoch - s.oldest_epoch + 1 < kEpochs) s.epoch += 1;
  return epoch;
}

/// Have all stores up to and including `epoch` reached memory?
template <class S>
NW_HD inline bool drained(const S& s, uint32_t epoch) {
  return static_cast<int32_t>(s.oldest_epoch - epoch) > 0 ||
         (s.oldest_epoch == epoch && s.epoch_stores[epoch % kEpochs] == 0);
}

/// Count off a store of `epoch` (modulo kEpochs) whose lines have been sent, or a line of one that
/// has been acknowledged.
template <class S>
NW_HD inline void remove_store(S& s, uint32_t epoch) {
  NW_ASSERT(s.epoch_stores[epoch % kEpochs] > 0);
  s.epoch_stores[epoch % kEpochs] -= 1;
  retire_epochs(s);
  // A warp may wait for the current epoch, which was left open because no other was free: close it.
  if (s.awaits_stores != 0 && s.epoch_stores[s.epoch % kEpochs] != 0 &&
      s.epoch - s.oldest_epoch + 1 < kEpochs)
    s.epoch += 1;
}

}  // namespace nearwarp::sm
