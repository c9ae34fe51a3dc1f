// One run, which can be stopped anywhere and gone on with.
#pragma once

#include <nearwarp/configuration.h>
#include <nearwarp/failure.h>
#include <nearwarp/program.h>
#include <nearwarp/result.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nearwarp {

struct Progress {
  uint64_t cycles = 0, warp_instructions = 0;
  uint64_t warp_instructions_total = 0;
  /// A batch's warp-instructions done, and to be done, by point; there during the call.
  std::span<const uint64_t> of_each = {}, total_of_each = {};
  /// Time left of a batch with BatchOptions::time_left, once it can be said.
  std::optional<double> seconds_left = {};
};

struct SimulationOptions {
  unsigned threads = 1;
  /// A file for the run's state. If it is there, the run goes on from it (of the same program,
  /// machine, policy and build); save() and the end of run() write it.
  std::string checkpoint = {};
  /// Asked some times a second; returns false to stop. If it throws, the run stops and fails as
  /// Failure::Kind::kStopped; it can be gone on with.
  std::function<bool(const Progress&)> progress = {};
};

/// One program on one machine under one policy. It can be stopped anywhere, which changes nothing
/// of its result.
///
/// One thread at a time goes on with it. While one does, others may ask ended(), cycles() and
/// launches_ended(), which are as of the last time that progress() could be asked; run*(),
/// counter(), now(), result() and save() fail there. In progress() all but run*() work. Simulations
/// know nothing of each other: each may have a thread of its own.
class NEARWARP_API Simulation {
 public:
  static Expected<Simulation> begin(const Program& program, const Machine& machine,
                                    const Policy& policy, SimulationOptions options = {});
  ~Simulation();
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;

  /// To the end of the program or until progress() stops it; it can be gone on with then.
  Expected<Done> run();
  /// Until all before that core cycle has been simulated, or as run(). It has ended once all
  /// launches have.
  Expected<Done> run_to_cycle(uint64_t cycle);
  /// Until so many launches have ended (one window of the machine later at most), or as run().
  Expected<Done> run_to_launch(uint64_t launches);

  bool ended() const;
  uint64_t cycles() const;
  uint64_t launches_ended() const;
  /// A counter, as of now.
  Expected<uint64_t> counter(std::string_view name) const;
  /// All of them and the rest; Result::partial unless the program has ended.
  Expected<Result> now() const;
  /// now(); throws std::logic_error with its message while another thread goes on with the run.
  Result result() const;
  Expected<Done> save();

  struct State;

 private:
  explicit Simulation(std::unique_ptr<State> state);
  State& state() const;
  std::unique_ptr<State> state_;
};

}  // namespace nearwarp
