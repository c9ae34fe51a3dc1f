// The shapes of machines: which generator a machine's key names.
#include "host/timing/machine/shapes/shapes.h"

namespace nearwarp::sim {

Graph make_graph(const ShapeInputs& inputs) {
  const Parts parts(inputs);
  const std::string& shape = inputs.machine.shape;
  if (shape == "discrete") return make_discrete(parts);
  if (shape == "mesh") return make_mesh(parts);
  if (shape == "stacks") return make_stacks(parts);
  if (shape == "near_bank") return make_near_bank(parts);
  return make_stacked(parts);
}

}  // namespace nearwarp::sim
