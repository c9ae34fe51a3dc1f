// out[i] = atomicAdd(&counter[address], 1). Argument: 0 all threads to one address, 1 to random ones of 65536.
#include "bench/reference/kernels/common.h"
__global__ void atomics(unsigned *counter, unsigned *out, int n, unsigned mask) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned h = i * 2654435761u;
        h ^= h >> 15;
        out[i] = atomicAdd(&counter[h & mask], 1u);
    }
}
int main(int argc, char **argv) {
    int many = argument(argc, argv, 1, 0), n = many ? 32768 : 4096;
    unsigned mask = many ? 65535 : 0;
    unsigned *c = device_zeros<unsigned>(65536), *out = device_zeros<unsigned>(n);
    atomics<<<(n + 255) / 256, 256>>>(c, out, n, mask);
    auto r = to_host(c, 65536);
    unsigned long long sum = 0;
    for (unsigned v : r) sum += v;
    return report(sum == (unsigned long long)n && (many || r[0] == (unsigned)n));
}
