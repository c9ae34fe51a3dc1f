// Branches that part the lanes: a loop whose trips depend on the lane, and an eight-way choice inside.
#include "bench/reference/kernels/common.h"
__global__ void diverge(unsigned *out, int rounds) {
    unsigned x = threadIdx.x, lane = threadIdx.x & 31;
    for (int r = 0; r < rounds; r++) {
        for (unsigned i = 0; i <= lane % 8; i++) x = x * 1664525u + 1013904223u;
        switch ((x >> 13) & 7) {
        case 0: x += 3; x ^= x << 3; break;
        case 1: x ^= 0x55; x *= 9; break;
        case 2: x = x * 5 + lane; break;
        case 3: x = (x << 3) ^ (x >> 5); break;
        case 4: x -= 77; x ^= x >> 9; break;
        case 5: x = ~x; x *= 7; break;
        case 6: x = x ^ (x >> 7); x += 13; break;
        default: x = x * 3 + 1; break;
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
int main(int argc, char **argv) {
    int rounds = argument(argc, argv, 1, 24), blocks = 30, threads = 256;
    unsigned *d = device_zeros<unsigned>(blocks * threads);
    diverge<<<blocks, threads>>>(d, rounds);
    auto r = to_host(d, blocks * threads);
    bool ok = true;
    for (int b = 1; b < blocks; b++)
        for (int t = 0; t < threads; t++) ok &= r[b * threads + t] == r[t];
    return report(ok);
}
