// y[i * stride] = a * x[i * stride] + y[i * stride]; argument: stride
#include "bench/reference/kernels/common.h"
__global__ void saxpy(const float *x, float *y, float a, int n, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i * stride] = a * x[i * stride] + y[i * stride];
}
int main(int argc, char **argv) {
    int stride = argument(argc, argv, 1, 2), n = argument(argc, argv, 2, 131072);
    std::vector<float> x((size_t)n * stride), y((size_t)n * stride);
    for (size_t i = 0; i < x.size(); i++) x[i] = i % 1000, y[i] = i % 77;
    float *dx = to_device(x), *dy = to_device(y);
    saxpy<<<(n + 255) / 256, 256>>>(dx, dy, 2.0f, n, stride);
    auto r = to_host(dy, y.size());
    bool ok = true;
    for (size_t i = 0; i < y.size(); i++) ok &= r[i] == (i % stride ? y[i] : 2.0f * x[i] + y[i]);
    return report(ok);
}
