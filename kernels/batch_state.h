// The state of a batch of systems in a device's memory: see kernels/batch.h.
#pragma once

#include "kernels/team_state.h"

namespace nearwarp::kernels {

/// A task of a warp: to step components of the kind with that number, or one of these.
enum class BatchTask : uint32_t {
  kSeat = ProductFamily::kCount,  ///< what the host, or another launch, has left: who is due when
  kLook,
  kLeave,  ///< count what has been committed
};
inline constexpr uint32_t kBatchTasks = ProductFamily::kCount + 3;

/// Cohorts of a batch: a warp looks for work with a lane for each.
inline constexpr uint32_t kMostCohorts = 32;
inline constexpr uint32_t kRunOfSeats = 32;  ///< of the same kind, or empty
inline constexpr uint32_t kRunsOfPiece = 8;
inline constexpr uint32_t kSeatsOfPiece =
    kRunsOfPiece * kRunOfSeats;                      ///< that are looked at by a warp
inline constexpr uint32_t kNoDomain = ~uint32_t{0};  ///< of an empty seat

/// Some of a batch's systems, which go by rounds.
struct Cohort {
  uint32_t first_system = 0, systems = 0;                 ///< of the launch's table
  uint32_t seat_of_kind[ProductFamily::kCount + 1] = {};  ///< its first; multiples of kRunOfSeats
  BatchTask phase = BatchTask::kSeat;  ///< what is being done; steps count as kLook
  bool stepping = false;               ///< lists are being stepped
  uint32_t left = 0;                   ///< pieces of the phase that are not done
  uint32_t due[ProductFamily::kCount] =
      {};  ///< lengths of the lists; each begins where its seats do
};

/// Components of a system that are stepped in the same windows.
struct Domain {
  Window window;              ///< that is being stepped, if there is one in this round
  Tick machine_end = kNever;  ///< of a cluster: end of the machine's window
  Tick next = kNever;         ///< when something can happen in it, or by it
  Tick beyond = kNever;       ///< the same, but not before machine_end
  uint32_t length = 0;        ///< of a cluster's windows; 0: no cluster
};

/// A batch's knowledge of a system beside its TeamSystem.
struct BatchSystem {
  uint32_t first_domain = 0, domains = 1;  ///< the first is that of components in no cluster
  uint64_t last_window = 0;                ///< it stops before this one
};

/// A launch. Lies in the device's memory, as all that it points to.
struct Batch {
  TeamSystem* systems = nullptr;  ///< without deals
  BatchSystem* more = nullptr;    ///< by system
  Cohort* cohorts = nullptr;
  uint32_t num_cohorts = 0;
  // By seat.
  const uint32_t* system = nullptr;
  const uint32_t* component = nullptr;
  const uint32_t* domain = nullptr;       ///< kNoDomain: the seat is empty
  Tick* wake = nullptr;                   ///< when its component wants to be stepped
  Tick* arrivals = nullptr;               ///< see Horizon::arrivals
  uint32_t* list = nullptr;               ///< of seats that are due
  const uint32_t* kind_of_run = nullptr;  ///< of components
  /// By run of seats: none of them wants anything until something is sent to one.
  uint32_t* asleep = nullptr;
  Domain* domains = nullptr;
  Tick* ends = nullptr;  ///< by domain: end of the window that is being stepped; 0: there is none
  /// By task and cohort: pieces of it that there are, in the upper half, and that have been taken,
  /// or more, in the lower half.
  uint64_t* tickets = nullptr;
  uint32_t* cohorts_left = nullptr;  ///< that are not over
  uint64_t nanoseconds = ~uint64_t{0};

  NW_HD NW_INLINE uint64_t* ticket(uint32_t task, uint32_t cohort) const {
    return tickets + task * kMostCohorts + cohort;
  }
};

}  // namespace nearwarp::kernels
