// One thread follows pointers from line to line in random order. Arguments: lines of 128 bytes, steps.
// Load-to-use latency: difference of the cycles of two runs over the difference of their steps.
#include "bench/reference/kernels/common.h"
__global__ void chase(void **p, int steps, void **out) {
#pragma unroll 16
    for (int i = 0; i < steps; i++) p = (void **)*p;
    *out = (void *)p;
}
int main(int argc, char **argv) {
    int lines = argument(argc, argv, 1, 64), steps = argument(argc, argv, 2, 2048);
    std::vector<unsigned> order(lines);
    for (int i = 0; i < lines; i++) order[i] = i;
    for (int i = lines - 1; i > 0; i--) std::swap(order[i], order[rnd() % (i + 1)]);
    char *d = nullptr;
    cudaMalloc((void **)&d, (size_t)lines * 128);
    std::vector<char> image((size_t)lines * 128, 0);
    for (int i = 0; i < lines; i++) {
        void *next = d + (size_t)order[(i + 1) % lines] * 128;
        memcpy(&image[(size_t)order[i] * 128], &next, 8);
    }
    cudaMemcpy(d, image.data(), image.size(), cudaMemcpyHostToDevice);
    void **out = (void **)device_zeros<unsigned long long>(1);
    chase<<<1, 1>>>((void **)(d + (size_t)order[0] * 128), steps, out);
    auto r = to_host((unsigned long long *)out, 1);
    return report(r[0] == (unsigned long long)(d + (size_t)order[steps % lines] * 128));
}
