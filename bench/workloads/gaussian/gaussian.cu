// Gaussian elimination without pivoting after Rodinia's: for each column a kernel for the factors
// and one for the rows below.

// A thread per row below row `at`.
extern "C" __global__ void gaussian_factors(const float* matrix, float* factors, int side, int at) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= side - 1 - at) return;
  const int row = at + 1 + i;
  factors[row * side + at] = matrix[row * side + at] / matrix[at * side + at];
}

// A thread per element, with threadIdx.x along a column, as in the original.
extern "C" __global__ void gaussian_rows(float* matrix, float* right, const float* factors,
                                         int side, int at) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= side - 1 - at || j >= side - at) return;
  const int row = at + 1 + i, column = at + j;
  const float factor = factors[row * side + at];
  matrix[row * side + column] -= factor * matrix[at * side + column];
  if (j == 0) right[row] -= factor * right[at];
}
