// A private array of 16 words per thread, indexed by a value: local memory.
#include "bench/reference/kernels/common.h"
__global__ void local_array(unsigned *out, int steps) {
    unsigned a[16], x = threadIdx.x;
    for (int i = 0; i < 16; i++) a[i] = x + i;
    for (int i = 0; i < steps; i++) {
        unsigned j = (x + i * 5) & 15;
        x = x * 1664525u + a[j];
        a[(j + 3) & 15] = x;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
int main(int argc, char **argv) {
    int steps = argument(argc, argv, 1, 32), blocks = 30;
    unsigned *d = device_zeros<unsigned>(blocks * 128);
    local_array<<<blocks, 128>>>(d, steps);
    auto r = to_host(d, blocks * 128);
    bool ok = true;
    for (int g = 0; g < blocks * 128; g++) {
        unsigned a[16], x = g % 128;
        for (int i = 0; i < 16; i++) a[i] = x + i;
        for (int i = 0; i < steps; i++) {
            unsigned j = (x + i * 5) & 15;
            x = x * 1664525u + a[j];
            a[(j + 3) & 15] = x;
        }
        ok &= r[g] == x;
    }
    return report(ok);
}
