// Argument: 0 naive, 1 tiled
#include "bench/reference/kernels/common.h"
__global__ void transpose_naive(const float *in, float *out, int w) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[x * w + y + j] = in[(y + j) * w + x];
}
__global__ void transpose_tiled(const float *in, float *out, int w) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * w + x] = tile[threadIdx.x][threadIdx.y + j];
}
int main(int argc, char **argv) {
    int tiled = argument(argc, argv, 1, 0), w = argument(argc, argv, 2, 512);
    std::vector<float> a((size_t)w * w);
    for (int i = 0; i < w * w; i++) a[i] = i;
    float *da = to_device(a), *db = device_zeros<float>((size_t)w * w);
    if (tiled) transpose_tiled<<<dim3(w / 32, w / 32), dim3(32, 8)>>>(da, db, w);
    else transpose_naive<<<dim3(w / 32, w / 32), dim3(32, 8)>>>(da, db, w);
    auto b = to_host(db, (size_t)w * w);
    bool ok = true;
    for (int y = 0; y < w; y++)
        for (int x = 0; x < w; x++) ok &= b[x * w + y] == a[y * w + x];
    return report(ok);
}
