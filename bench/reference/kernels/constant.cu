// Argument: 0 all lanes read the same word, 1 each lane its own
#include "bench/reference/kernels/common.h"
__constant__ int table[1024];
__global__ void constants(int *out, int steps, int apart) {
    int t = threadIdx.x, x = 0, j = apart ? t & 31 : 0;
#pragma unroll 8
    for (int i = 0; i < steps; i++) x += table[(j + i) & 1023];
    out[blockIdx.x * blockDim.x + t] = x;
}
int main(int argc, char **argv) {
    int apart = argument(argc, argv, 1, 0), steps = argument(argc, argv, 2, 96), blocks = 45;
    std::vector<int> h(1024);
    for (int i = 0; i < 1024; i++) h[i] = i * 3;
    cudaMemcpyToSymbol(table, h.data(), 4096);
    int *d = device_zeros<int>(blocks * 256);
    constants<<<blocks, 256>>>(d, steps, apart);
    auto r = to_host(d, blocks * 256);
    bool ok = true;
    for (int i = 0; i < blocks * 256; i++) {
        int x = 0;
        for (int s = 0; s < steps; s++) x += h[((apart ? i & 31 : 0) + s) & 1023];
        ok &= x == r[i];
    }
    return report(ok);
}
