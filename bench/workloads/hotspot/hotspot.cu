// Temperatures of a chip over time after Rodinia's hotspot: a block keeps a tile of 16 x 16 cells
// in shared memory for several steps and writes those that the steps did not reach from outside.

constexpr int kTile = 16;

struct HotspotFactors {
  float step_per_capacity, per_rx, per_ry, per_rz, ambient;
};

extern "C" __global__ void hotspot_steps(const float* power, const float* from, float* to,
                                         int columns, int rows, int border, int steps,
                                         HotspotFactors factors) {
  __shared__ float now[kTile][kTile];
  __shared__ float heat[kTile][kTile];
  __shared__ float next[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = static_cast<int>(blockIdx.x) * (kTile - 2 * border) - border + tx;
  const int y = static_cast<int>(blockIdx.y) * (kTile - 2 * border) - border + ty;
  const bool inside = x >= 0 && x < columns && y >= 0 && y < rows;
  if (inside) {
    now[ty][tx] = from[y * columns + x];
    heat[ty][tx] = power[y * columns + x];
  }
  __syncthreads();
  // No heat leaves the chip sideways: a cell at its edge is its own neighbour.
  const int west = x > 0 ? tx - 1 : tx, east = x < columns - 1 ? tx + 1 : tx;
  const int north = y > 0 ? ty - 1 : ty, south = y < rows - 1 ? ty + 1 : ty;
  bool reached = false;
  for (int step = 1; step <= steps; ++step) {
    reached = inside && tx >= step && tx < kTile - step && ty >= step && ty < kTile - step;
    if (reached) {
      const float t = now[ty][tx];
      next[ty][tx] =
          t + factors.step_per_capacity *
                  (heat[ty][tx] + (now[south][tx] + now[north][tx] - 2.0f * t) * factors.per_ry +
                   (now[ty][east] + now[ty][west] - 2.0f * t) * factors.per_rx +
                   (factors.ambient - t) * factors.per_rz);
    }
    if (step == steps) break;
    __syncthreads();
    if (reached) now[ty][tx] = next[ty][tx];
    __syncthreads();
  }
  // Fewer steps than the border is wide reach cells that are another block's.
  const bool mine = tx >= border && tx < kTile - border && ty >= border && ty < kTile - border;
  if (reached && mine) to[y * columns + x] = next[ty][tx];
}
