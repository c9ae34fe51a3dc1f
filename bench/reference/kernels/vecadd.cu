#include "bench/reference/kernels/common.h"
__global__ void vecadd(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
int main(int argc, char **argv) {
    int n = argument(argc, argv, 1, 524288);
    std::vector<float> a(n), b(n);
    for (int i = 0; i < n; i++) a[i] = i, b[i] = 2 * i;
    float *da = to_device(a), *db = to_device(b), *dc = device_zeros<float>(n);
    vecadd<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    auto c = to_host(dc, n);
    bool ok = true;
    for (int i = 0; i < n; i++) ok &= c[i] == a[i] + b[i];
    return report(ok);
}
