// A loop of one addition: cost of a taken branch. Arguments: threads per block, steps.
#include "bench/reference/kernels/common.h"
__global__ void branches(float *out, float a, int steps) {
    float x = 0;
#pragma unroll 1
    for (int i = 0; i < steps; i++) x = x + a;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
int main(int argc, char **argv) {
    int threads = argument(argc, argv, 1, 32), steps = argument(argc, argv, 2, 256), blocks = 15;
    float *d = device_zeros<float>(blocks * threads);
    branches<<<blocks, threads>>>(d, 1.0f, steps);
    auto r = to_host(d, blocks * threads);
    bool ok = true;
    for (float v : r) ok &= v == (float)steps;
    return report(ok);
}
