// Copies of boxes, as the driver's interface describes them, in the runtime's terms.
#pragma once

#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

/// Throws Failure for what cannot be.
cudart::Copy3D runtime_copy(const Copy3D& copy);
Copy3D in_three_dimensions(const Copy2D& copy);
/// The other way round, for who asks what a graph's node copies.
Copy3D driver_copy(const cudart::Copy3D& copy);

}  // namespace nearwarp::cudriver
