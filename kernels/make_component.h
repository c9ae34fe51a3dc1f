// Laying out a component in an arena: the one way in which builders and tests do it. Host only.
#pragma once

#include <algorithm>
#include <span>

#include "device/core/arena.h"
#include "kernels/kinds.h"

namespace nearwarp::kernels {

/// Copy an object into the arena.
template <class T>
Ref<T> place(ArenaBuilder& arena, const T& object) {
  const Ref<T> ref = arena.allocate<T>(1);
  *arena.get(ref) = object;
  return ref;
}
template <class T>
Ref<T> place(ArenaBuilder& arena, std::span<const T> objects) {
  const Ref<T> ref = arena.allocate<T>(static_cast<uint32_t>(objects.size()));
  std::copy(objects.begin(), objects.end(), arena.get(ref));
  return ref;
}

/// A component whose parameters and State lie in the arena; the State tells its kind. `inputs` are
/// the channels that wake it.
template <class Family = ProductFamily, class P, class S>
Component make_component(Ref<P> params, Ref<S> state, Ref<Ref<Channel>> inputs) {
  Component c;
  c.kind = Family::template kind_of<S>();
  c.params = params.offset;
  c.state = state.offset;
  c.inputs = inputs;
  return c;
}
/// Makes a component, and places its parts in the arena.
template <class Family = ProductFamily, class P, class S>
Component make_component(ArenaBuilder& arena, const P& params, const S& state,
                         std::span<const Ref<Channel>> inputs) {
  const Ref<P> p = place(arena, params);
  const Ref<S> s = place(arena, state);
  return make_component<Family>(p, s, place(arena, inputs));
}

}  // namespace nearwarp::kernels
