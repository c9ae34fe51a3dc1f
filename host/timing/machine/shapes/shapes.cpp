// The shapes of machines: which generator a machine's key names.
#include "host/timing/machine/shapes/shapes.h"

namespace nearwarp::sim {

Graph make_graph(const ShapeInputs& inputs) {
  const Parts parts(inputs);
  return inputs.machine.shape == "discrete" ? make_discrete(parts) : make_stacked(parts);
}

}  // namespace nearwarp::sim
