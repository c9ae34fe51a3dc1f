#include "bench/reference/kernels/common.h"
__global__ void spmv(const int *row, const int *col, const float *val, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float s = 0;
        for (int j = row[i]; j < row[i + 1]; j++) s += val[j] * x[col[j]];
        y[i] = s;
    }
}
int main(int argc, char **argv) {
    int n = argument(argc, argv, 1, 8192);
    std::vector<int> row(n + 1), col;
    std::vector<float> val, x(n);
    for (int i = 0; i < n; i++) {
        x[i] = i % 13;
        row[i] = col.size();
        for (int d = 4 + rnd() % 16; d > 0; d--) col.push_back(rnd() % n), val.push_back(rnd() % 3);
    }
    row[n] = col.size();
    int *dr = to_device(row), *dc = to_device(col);
    float *dv = to_device(val), *dx = to_device(x), *dy = device_zeros<float>(n);
    spmv<<<(n + 127) / 128, 128>>>(dr, dc, dv, dx, dy, n);
    auto y = to_host(dy, n);
    bool ok = true;
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int j = row[i]; j < row[i + 1]; j++) s += val[j] * x[col[j]];
        ok &= s == y[i];
    }
    return report(ok);
}
