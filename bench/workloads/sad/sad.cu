// Sums of absolute differences for the motion search of H.264 after Parboil's sad: those of blocks
// of 4 x 4 pixels for all displacements, then those of larger blocks out of smaller ones. Sums are
// [macroblock][shape][block of the shape][displacement], in the order of the enumeration below.

constexpr int kRange = 16, kRow = 2 * kRange + 1;  // displacements in x and y: -16 to 16
constexpr int kDisplacements = kRow * kRow;
constexpr int kThreads = 61, kPerThread = 18;  // Parboil's: together 1098
constexpr int kOf4x4 = 0, kOf8x4 = 16, kOf4x8 = 24, kOf8x8 = 32, kOf16x8 = 36, kOf8x16 = 38;
constexpr int kOf16x16 = 40, kSums = 41;

typedef unsigned short Sum;

// A block of threads per 4 x 4 pixels, in a grid as they lie in the frame.
extern "C" __global__ void sad_4x4(const unsigned short* frame, const unsigned short* reference,
                                   Sum* sums, int width, int height) {
  const int x0 = 4 * blockIdx.x, y0 = 4 * blockIdx.y;
  const int macroblock = y0 / 16 * (width / 16) + x0 / 16;
  const int block = blockIdx.y % 4 * 4 + blockIdx.x % 4;
  int pixels[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) pixels[i] = frame[(y0 + i / 4) * width + x0 + i % 4];
  Sum* out = sums + (macroblock * kSums + kOf4x4 + block) * kDisplacements;
#pragma unroll 1
  for (int i = 0; i < kPerThread; ++i) {
    const int displacement = i * kThreads + threadIdx.x;
    if (displacement >= kDisplacements) break;
    const int dx = displacement % kRow - kRange, dy = displacement / kRow - kRange;
    int sum = 0;
#pragma unroll
    for (int row = 0; row < 4; ++row) {
      const int y = min(max(y0 + row + dy, 0), height - 1);
#pragma unroll
      for (int column = 0; column < 4; ++column) {
        const int x = min(max(x0 + column + dx, 0), width - 1);
        sum += abs(pixels[row * 4 + column] - reference[y * width + x]);
      }
    }
    out[displacement] = static_cast<Sum>(sum);
  }
}

// 8 x 4, 4 x 8 and 8 x 8 from 4 x 4: a block of 32 x 4 threads per macroblock, a quarter each row.
extern "C" __global__ void sad_8x8(Sum* sums) {
  Sum* of = sums + blockIdx.x * kSums * kDisplacements;
  const int quarter = threadIdx.y, first = quarter / 2 * 8 + quarter % 2 * 2;
  for (int d = threadIdx.x; d < kDisplacements; d += blockDim.x) {
    const int a = of[(kOf4x4 + first) * kDisplacements + d];
    const int b = of[(kOf4x4 + first + 1) * kDisplacements + d];
    const int c = of[(kOf4x4 + first + 4) * kDisplacements + d];
    const int e = of[(kOf4x4 + first + 5) * kDisplacements + d];
    of[(kOf8x4 + 2 * quarter) * kDisplacements + d] = static_cast<Sum>(a + b);
    of[(kOf8x4 + 2 * quarter + 1) * kDisplacements + d] = static_cast<Sum>(c + e);
    of[(kOf4x8 + 2 * quarter) * kDisplacements + d] = static_cast<Sum>(a + c);
    of[(kOf4x8 + 2 * quarter + 1) * kDisplacements + d] = static_cast<Sum>(b + e);
    of[(kOf8x8 + quarter) * kDisplacements + d] = static_cast<Sum>(a + b + c + e);
  }
}

// 16 x 8, 8 x 16 and 16 x 16 from 8 x 8: a block of 32 threads per macroblock.
extern "C" __global__ void sad_16x16(Sum* sums) {
  Sum* of = sums + blockIdx.x * kSums * kDisplacements;
  for (int d = threadIdx.x; d < kDisplacements; d += blockDim.x) {
    const int a = of[kOf8x8 * kDisplacements + d], b = of[(kOf8x8 + 1) * kDisplacements + d];
    const int c = of[(kOf8x8 + 2) * kDisplacements + d], e = of[(kOf8x8 + 3) * kDisplacements + d];
    of[kOf16x8 * kDisplacements + d] = static_cast<Sum>(a + b);
    of[(kOf16x8 + 1) * kDisplacements + d] = static_cast<Sum>(c + e);
    of[kOf8x16 * kDisplacements + d] = static_cast<Sum>(a + c);
    of[(kOf8x16 + 1) * kDisplacements + d] = static_cast<Sum>(b + e);
    of[kOf16x16 * kDisplacements + d] = static_cast<Sum>(a + b + c + e);
  }
}
