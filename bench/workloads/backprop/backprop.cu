// One training step of a network with one hidden layer, after Rodinia's backprop: products of
// inputs and weights summed through shared memory, then the weights adjusted with momentum.
// A block of kHidden x kHidden threads has kHidden inputs; blockIdx.x numbers blocks of inputs.
// weights[(input + 1) * (kHidden + 1) + hidden + 1]: row and column 0 are for the bias.

constexpr int kHidden = 16;

extern "C" __global__ void backprop_forward(const float* input, float* weights, float* partial) {
  __shared__ float values[kHidden];
  __shared__ float products[kHidden][kHidden];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = kHidden * blockIdx.x + ty + 1;
  const int index = row * (kHidden + 1) + tx + 1;
  if (tx == 0) values[ty] = input[row];
  __syncthreads();
  products[ty][tx] = weights[index] * values[ty];
  __syncthreads();
  for (int stride = 1; stride < kHidden; stride *= 2) {
    if (ty % (2 * stride) == 0) products[ty][tx] += products[ty + stride][tx];
    __syncthreads();
  }
  if (ty == 0) partial[blockIdx.x * kHidden + tx] = products[0][tx];
}

extern "C" __global__ void backprop_adjust(const float* input, const float* delta, float* weights,
                                           float* previous, float rate, float momentum) {
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = kHidden * blockIdx.x + ty + 1;
  const int index = row * (kHidden + 1) + tx + 1;
  const float change = rate * delta[tx + 1] * input[row] + momentum * previous[index];
  weights[index] += change;
  previous[index] = change;
  if (blockIdx.x == 0 && ty == 0) {  // the bias, an input that is always one
    const float bias_change = rate * delta[tx + 1] + momentum * previous[tx + 1];
    weights[tx + 1] += bias_change;
    previous[tx + 1] = bias_change;
  }
}
