// One training step with the accesses of Rodinia's backprop: the forward kernel leaves its products,
// as far as they are summed, in the array of the weights (the host copies the weights again), and the
// kernel that adjusts weights reads everything anew for the change that it keeps.
// blockIdx.y numbers blocks of kHidden inputs; other layouts are those of backprop.cu.

constexpr int kHidden = 16;

extern "C" __global__ void backprop_original_forward(const float* input, float* weights,
                                                     float* partial, int hidden) {
  __shared__ float values[kHidden];
  __shared__ float products[kHidden][kHidden];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = kHidden * blockIdx.y + ty + 1;
  const int index = row * (hidden + 1) + tx + 1;
  if (tx == 0) values[ty] = input[row];
  __syncthreads();
  products[ty][tx] = weights[index];
  __syncthreads();
  products[ty][tx] *= values[ty];
  __syncthreads();
  for (int step = 2; step <= kHidden; step *= 2) {
    if (ty % step == 0) products[ty][tx] += products[ty + step / 2][tx];
    __syncthreads();
  }
  weights[index] = products[ty][tx];
  __syncthreads();
  if (tx == 0) partial[blockIdx.y * hidden + ty] = products[tx][ty];
}

extern "C" __global__ void backprop_original_adjust(const float* delta, int hidden,
                                                    const float* input, float* weights,
                                                    float* previous, float rate, float momentum) {
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = kHidden * blockIdx.y + ty + 1;
  const int index = row * (hidden + 1) + tx + 1;
  // This store may change any of the arrays as far as the compiler knows.
  weights[index] += rate * delta[tx + 1] * input[row] + momentum * previous[index];
  previous[index] = rate * delta[tx + 1] * input[row] + momentum * previous[index];
  __syncthreads();
  if (ty == 0 && blockIdx.y == 0) {  // the bias
    weights[tx + 1] += rate * delta[tx + 1] + momentum * previous[tx + 1];
    previous[tx + 1] = rate * delta[tx + 1] + momentum * previous[tx + 1];
  }
}
