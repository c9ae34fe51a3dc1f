#include "bench/reference/kernels/common.h"
__global__ void stencil(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1) {
        int i = y * w + x;
        out[i] = in[i] * 0.5f + (in[i - 1] + in[i + 1] + in[i - w] + in[i + w]) * 0.125f;
    }
}
int main(int argc, char **argv) {
    int w = argument(argc, argv, 1, 512), h = w;
    std::vector<float> a((size_t)w * h);
    for (int i = 0; i < w * h; i++) a[i] = i % 64;
    float *da = to_device(a), *db = device_zeros<float>((size_t)w * h);
    stencil<<<dim3(w / 32, h / 8), dim3(32, 8)>>>(da, db, w, h);
    auto b = to_host(db, (size_t)w * h);
    bool ok = true;
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) {
            int i = y * w + x;
            float want = a[i] * 0.5f + (a[i - 1] + a[i + 1] + a[i - w] + a[i + w]) * 0.125f;
            ok &= b[i] > want - 0.01f && b[i] < want + 0.01f;
        }
    return report(ok);
}
