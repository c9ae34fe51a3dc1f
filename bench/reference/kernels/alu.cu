// Dependent chains: 0 integer multiplication, 1 integer division, 2 special functions, 3 integer additions,
// four independent multiply-adds per step (4). Arguments: kind, blocks, threads, steps.
#include "bench/reference/kernels/common.h"
__global__ void int_mul(unsigned *out, unsigned a, int steps) {
    unsigned x = threadIdx.x + 1;
#pragma unroll 16
    for (int i = 0; i < steps; i++) x = x * a;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
__global__ void int_div(unsigned *out, unsigned a, int steps) {
    unsigned x = threadIdx.x + 1;
#pragma unroll 16
    for (int i = 0; i < steps; i++) x = 4000000000u / (x + a);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
__global__ void sfu(float *out, float a, int steps) {
    float x = threadIdx.x * 0.001f;
#pragma unroll 16
    for (int i = 0; i < steps; i++) x = __sinf(x);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x + a;
}
__global__ void int_add(unsigned *out, unsigned a, int steps) {
    unsigned x = threadIdx.x;
#pragma unroll 16
    for (int i = 0; i < steps; i++) x = (x + a) ^ (unsigned)i;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
__global__ void fma_ilp4(float *out, float a, float b, int steps) {
    float x = threadIdx.x, y = x + 1, z = x + 2, w = x + 3;
#pragma unroll 8
    for (int i = 0; i < steps; i++) {
        x = x * a + b;
        y = y * a + b;
        z = z * a + b;
        w = w * a + b;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x + y + z + w;
}
int main(int argc, char **argv) {
    int kind = argument(argc, argv, 1, 0), blocks = argument(argc, argv, 2, 15), threads = argument(argc, argv, 3, 256),
        steps = argument(argc, argv, 4, 256), n = blocks * threads;
    unsigned *d = device_zeros<unsigned>(n);
    if (kind == 0) int_mul<<<blocks, threads>>>(d, 3, steps);
    if (kind == 1) int_div<<<blocks, threads>>>(d, 7, steps);
    if (kind == 2) sfu<<<blocks, threads>>>((float *)d, 1.0f, steps);
    if (kind == 3) int_add<<<blocks, threads>>>(d, 3, steps);
    if (kind == 4) fma_ilp4<<<blocks, threads>>>((float *)d, 0.5f, 1.0f, steps);
    auto r = to_host(d, n);
    bool ok = true;
    for (int i = 0; i < n; i++) {
        unsigned x = i % threads + (kind < 2);
        if (kind == 0) for (int s = 0; s < steps; s++) x *= 3;
        if (kind == 1) for (int s = 0; s < steps; s++) x = 4000000000u / (x + 7);
        if (kind == 3) for (int s = 0; s < steps; s++) x = (x + 3) ^ (unsigned)s;
        if (kind == 0 || kind == 1 || kind == 3) ok &= r[i] == x;
    }
    return report(ok);
}
