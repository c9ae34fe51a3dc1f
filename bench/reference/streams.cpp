// Host sides of the programs that stream through memory: vecadd, saxpy, stencil, transpose, spmv.
#include "bench/reference/host.h"
#include "bench/reference/programs.h"

namespace nearwarp::reference {

bool run_vecadd(Host& host) {
  const int n = host.argument(1, 524288);
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i);
  }
  const auto da = host.to_device(a), db = host.to_device(b), dc = host.device_zeros<float>(n);
  host.launch("_Z6vecaddPKfS0_Pfi", line_of((n + 255) / 256), line_of(256), da, db, dc, n);
  const auto c = host.to_host<float>(dc, n);
  bool ok = true;
  for (int i = 0; i < n; ++i) ok &= c[i] == a[i] + b[i];
  return ok;
}

bool run_saxpy(Host& host) {
  const int stride = host.argument(1, 2), n = host.argument(2, 131072), size = n * stride;
  std::vector<float> x(size), y(size);
  for (int i = 0; i < size; ++i) {
    x[i] = static_cast<float>(i % 1000);
    y[i] = static_cast<float>(i % 77);
  }
  const auto dx = host.to_device(x), dy = host.to_device(y);
  host.launch("_Z5saxpyPKfPffii", line_of((n + 255) / 256), line_of(256), dx, dy, 2.0f, n, stride);
  const auto r = host.to_host<float>(dy, size);
  bool ok = true;
  for (int i = 0; i < size; ++i) ok &= r[i] == (i % stride != 0 ? y[i] : 2.0f * x[i] + y[i]);
  return ok;
}

bool run_stencil(Host& host) {
  const int w = host.argument(1, 512), h = w, n = w * h;
  std::vector<float> a(n);
  for (int i = 0; i < n; ++i) a[i] = static_cast<float>(i % 64);
  const auto da = host.to_device(a), db = host.device_zeros<float>(n);
  const runtime::Dim3 grid = {static_cast<uint32_t>(w / 32), static_cast<uint32_t>(h / 8), 1};
  host.launch("_Z7stencilPKfPfii", grid, {32, 8, 1}, da, db, w, h);
  const auto b = host.to_host<float>(db, n);
  bool ok = true;
  for (int y = 1; y < h - 1; ++y) {
    for (int x = 1; x < w - 1; ++x) {
      const int i = y * w + x;
      const float want = a[i] * 0.5f + (a[i - 1] + a[i + 1] + a[i - w] + a[i + w]) * 0.125f;
      ok &= b[i] > want - 0.01f && b[i] < want + 0.01f;
    }
  }
  return ok;
}

bool run_transpose(Host& host) {
  const int tiled = host.argument(1, 0), w = host.argument(2, 512), n = w * w;
  std::vector<float> a(n);
  for (int i = 0; i < n; ++i) a[i] = static_cast<float>(i);
  const auto da = host.to_device(a), db = host.device_zeros<float>(n);
  const auto tiles = static_cast<uint32_t>(w / 32);
  host.launch(tiled != 0 ? "_Z15transpose_tiledPKfPfi" : "_Z15transpose_naivePKfPfi",
              {tiles, tiles, 1}, {32, 8, 1}, da, db, w);
  const auto b = host.to_host<float>(db, n);
  bool ok = true;
  for (int y = 0; y < w; ++y)
    for (int x = 0; x < w; ++x) ok &= b[x * w + y] == a[y * w + x];
  return ok;
}

bool run_spmv(Host& host) {
  const int n = host.argument(1, 8192);
  std::vector<int> row(n + 1), col;
  std::vector<float> val, x(n);
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i % 13);
    row[i] = static_cast<int>(col.size());
    for (uint32_t d = 4 + host.rnd() % 16; d > 0; --d) {
      col.push_back(static_cast<int>(host.rnd() % static_cast<uint32_t>(n)));
      val.push_back(static_cast<float>(host.rnd() % 3));
    }
  }
  row[n] = static_cast<int>(col.size());
  const auto dr = host.to_device(row), dc = host.to_device(col), dv = host.to_device(val),
             dx = host.to_device(x), dy = host.device_zeros<float>(n);
  host.launch("_Z4spmvPKiS0_PKfS2_Pfi", line_of((n + 127) / 128), line_of(128), dr, dc, dv, dx, dy,
              n);
  const auto y = host.to_host<float>(dy, n);
  bool ok = true;
  for (int i = 0; i < n; ++i) {
    float s = 0;
    for (int j = row[i]; j < row[i + 1]; ++j) s += val[j] * x[col[j]];
    ok &= s == y[i];
  }
  return ok;
}

}  // namespace nearwarp::reference
