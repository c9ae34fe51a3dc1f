// Temperatures of a chip of several layers over time after Rodinia's hotspot3D: a thread per column
// of cells, which goes through the layers from below with three of them in registers.

struct Hotspot3dFactors {
  float centre, sideways_x, sideways_y, vertical, per_power, ambient;
};

extern "C" __global__ void hotspot3d_step(const float* power, const float* from, float* to,
                                          int columns, int rows, int layers,
                                          Hotspot3dFactors factors) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= columns || y >= rows) return;
  const int layer = columns * rows;
  int here = y * columns + x;
  // No heat leaves the chip sideways, below or above: a cell at its edge is its own neighbour.
  const int west = x > 0 ? 1 : 0, east = x < columns - 1 ? 1 : 0;
  const int north = y > 0 ? columns : 0, south = y < rows - 1 ? columns : 0;
  float below = from[here], centre = below;
  for (int z = 0; z < layers; ++z) {
    const float above = z < layers - 1 ? from[here + layer] : centre;
    to[here] = factors.centre * centre +
               factors.sideways_y * (from[here - north] + from[here + south]) +
               factors.sideways_x * (from[here - west] + from[here + east]) +
               factors.vertical * (above + below) + factors.per_power * power[here] +
               factors.vertical * factors.ambient;
    below = centre;
    centre = above;
    here += layer;
  }
}
