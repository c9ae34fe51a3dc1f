// Dependent loads of shared memory; lane l reads word l * stride, so stride is the degree of bank conflicts
// for 1, 2, 4, 8, 16, 32. Arguments: stride, steps, threads per block.
#include "bench/reference/kernels/common.h"
__global__ void shared_chain(int *out, int stride, int steps) {
    __shared__ int s[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = i;
    __syncthreads();
    int j = (threadIdx.x & 31) * stride;
#pragma unroll 16
    for (int i = 0; i < steps; i++) j = s[j];
    out[blockIdx.x * blockDim.x + threadIdx.x] = j;
}
int main(int argc, char **argv) {
    int stride = argument(argc, argv, 1, 1), steps = argument(argc, argv, 2, 128), blocks = 15,
        threads = argument(argc, argv, 3, 256);
    int *d = device_zeros<int>(blocks * threads);
    shared_chain<<<blocks, threads>>>(d, stride, steps);
    auto r = to_host(d, blocks * threads);
    bool ok = true;
    for (int i = 0; i < blocks * threads; i++) ok &= r[i] == i % 32 * stride;
    return report(ok);
}
