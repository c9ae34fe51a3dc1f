// Chains of dependent multiply-adds. Arguments: blocks, threads per block, steps.
#include "bench/reference/kernels/common.h"
__global__ void fma_chain(float *out, float a, float b, int steps) {
    float x = threadIdx.x;
#pragma unroll 32
    for (int i = 0; i < steps; i++) x = x * a + b;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
int main(int argc, char **argv) {
    int blocks = argument(argc, argv, 1, 15), threads = argument(argc, argv, 2, 32), steps = argument(argc, argv, 3, 512);
    float *d = device_zeros<float>(blocks * threads);
    fma_chain<<<blocks, threads>>>(d, 0.5f, 1.0f, steps);
    auto r = to_host(d, blocks * threads);
    bool ok = true;
    for (int i = 0; i < blocks * threads; i++) ok &= r[i] > 1.99f && r[i] < 2.01f;
    return report(ok);
}
