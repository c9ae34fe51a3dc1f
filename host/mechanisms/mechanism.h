// The host's side of a mechanism of near-data processing: what it makes of a program and a machine
// before a run, what it does between windows, and what it says of the run.
//
// The device's side is attached to SMs and the front end by number: the place in the family's list
// (kernels::Mechanisms), which is the place in the MechanismSet too.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/recording/archive.h"
#include "host/recording/recording.h"
#include "host/timing/machine/shapes/parts.h"
#include "host/timing/machine/system.h"
#include "host/timing/program/image_builder.h"
#include "host/timing/report/result.h"
#include "kernels/make_component.h"

namespace nearwarp::sim {

/// The subject of a run: a program, a machine and a policy.
struct RunSubject {
  const runtime::Recording& recording;
  const config::MachineConfig& machine;
  const config::PolicyConfig& policy;
};

/// A mechanism in one run. All functions may throw nearwarp::Error.
class MechanismRun {
 public:
  virtual ~MechanismRun() = default;

  /// Requirements on the machine's shape.
  virtual MachineNeeds needs() const { return {}; }
  /// Add nodes and links to the machine's graph; adjust what is there.
  virtual void extend(Graph&, const Parts&) {}
  /// The machine has been laid out: add State and Params to the SMs and the front end (attach_*()).
  virtual void attach(System& system) = 0;
  /// Before the first window of a run that begins (not of one that goes on).
  virtual void begin(System&) {}
  /// Does it find out in a run's beginning what holds for the rest of it?
  virtual bool learns() const { return false; }
  /// Results of its learning, as bytes, once they are complete; empty before.
  virtual std::string learnt(System&) { return {}; }
  /// In place of begin(), of a run that begins after that: with what learnt() of another said.
  virtual void begin_learnt(System& system, std::string_view) { begin(system); }
  /// Before every window that the front end wants the host for (FrontEndState::host_wanted_by);
  /// also called when it does not.
  virtual void serve(System&) {}

  /// Append its counters.
  virtual void collect(System&, report::RunResult&) {}
  /// Further sections of the report, once all counters are there.
  virtual void report(System&, report::RunResult&) {}
  /// Conservation, at the end of a complete run; throws nearwarp::Error.
  virtual void check(System&) {}
  /// For a report of who waits on whom: the warps that it holds, e.g. "3 offloaded; ".
  virtual std::string describe_held(System&) { return {}; }
  /// Name of a packet of its own; null if it has none of that kind.
  virtual const char* packet_name(PacketKind) const { return nullptr; }

  /// Its decisions, to and from a checkpoint (the machine's state is in its arena).
  virtual void save(runtime::Writer&) {}
  virtual void restore(runtime::Reader&) {}
};

/// A policy's mechanisms, in its order.
using MechanismRuns = std::vector<std::unique_ptr<MechanismRun>>;

class Mechanism {
 public:
  virtual ~Mechanism() = default;
  /// As in a policy's key policy.mechanism.
  virtual std::string_view name() const = 0;
  /// The mechanism whose device code it sets; empty: it has its own, and so a number.
  virtual std::string_view runs_on() const { return {}; }
  /// Does prepare() change the order of instructions? Then it is called before others'.
  virtual bool moves_instructions() const { return false; }
  /// Run the compiler pass, mark instructions of the image with 1 << number.
  virtual std::unique_ptr<MechanismRun> prepare(const RunSubject& subject, uint32_t number,
                                                ImageTables& image) const = 0;
};

/// Mechanisms with device code of their own, by number.
using MechanismSet = std::span<const Mechanism* const>;
/// The mechanisms that come with the program.
MechanismSet built_in_mechanisms();

/// The mechanisms of a policy: policy.mechanism, several joined by "+"; "none" for none. Throws
/// nearwarp::Error for a name that is not in `known`, for a machine that lacks what one of them
/// needs, and for two that run on the same device code.
MechanismRuns prepare_mechanisms(MechanismSet known, const RunSubject& subject, ImageTables& image);

/// Attach mechanism `number` to an SM, of whichever width.
template <class S, class P>
void attach_to_sm(System& system, uint32_t endpoint, uint32_t number, Ref<S> state, Ref<P> params) {
  with_sm(system, endpoint, [&](auto& sm) {
    sm.attached = static_cast<uint8_t>(sm.attached | 1u << number);
    sm.mechanism_state[number] = state.offset;
    sm.mechanism_params[number] = params.offset;
  });
}
/// Attach it to the front end.
template <class S, class P>
void attach_to_front_end(System& system, uint32_t number, Ref<S> state, Ref<P> params) {
  frontend::FrontEndState& f = system.front_end();
  f.attached = static_cast<uint8_t>(f.attached | 1u << number);
  f.mechanism_state[number] = state.offset;
  f.mechanism_params[number] = params.offset;
}
/// Throws nearwarp::Error if the slice looks lines up by sectors, which mechanisms cannot.
void require_whole_lines(System& system, uint32_t endpoint, const L2SliceState& slice);
inline void require_whole_lines(System&, uint32_t, const VaultState&) {}
inline void require_whole_lines(System&, uint32_t, const LinkPortState&) {}
/// Attach it to an L2 slice (C: L2SliceState), a vault (VaultState) or the GPU's end of a link
/// (LinkPortState).
template <class C, class S, class P>
void attach_to_memory(System& system, uint32_t endpoint, uint32_t number, Ref<S> state,
                      Ref<P> params) {
  require_whole_lines(system, endpoint, system.state<C>(endpoint));
  Attachments& attached = system.state<C>(endpoint).attached;
  attached.bits |= 1u << number;
  attached.state[number] = state.offset;
  attached.params[number] = params.offset;
}
/// The mechanism's state there, an S.
template <class S, class C>
S& state_at(System& system, uint32_t endpoint, uint32_t number) {
  return *reinterpret_cast<S*>(system.arena.base() +
                               system.state<C>(endpoint).attached.state[number]);
}
/// `value`, or `values`, in the system's arena.
template <class T>
Ref<T> place(System& system, const T& value) {
  return kernels::place(system.arena, value);
}
template <class T>
Ref<T> place_all(System& system, const std::vector<T>& values) {
  return kernels::place(system.arena, std::span<const T>(values));
}

}  // namespace nearwarp::sim
