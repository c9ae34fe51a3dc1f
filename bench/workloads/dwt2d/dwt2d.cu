// Wavelet transform of an image with the reversible 5/3 wavelet of JPEG 2000, as Rodinia's dwt2d
// can do it: for each level a kernel along the rows and one along the columns, a thread per pair of
// samples. Averages come first in a line, differences second.

// Sample `i` of a line of `length` samples, mirrored at the ends.
__device__ __forceinline__ int sample(const int* line, int stride, int length, int i) {
  i = i < 0 ? -i : i;
  i = i >= length ? 2 * (length - 1) - i : i;
  return line[i * stride];
}

// The pair of number `pair` of the line at `from`, whose length is even.
__device__ __forceinline__ void transform(const int* from, int* to, int stride, int length,
                                          int pair) {
  const int i = 2 * pair;
  const int left = sample(from, stride, length, i - 1), here = sample(from, stride, length, i);
  const int right = sample(from, stride, length, i + 1);
  const int before = left - ((sample(from, stride, length, i - 2) + here) >> 1);
  const int difference = right - ((here + sample(from, stride, length, i + 2)) >> 1);
  to[pair * stride] = here + ((before + difference + 2) >> 2);
  to[(length / 2 + pair) * stride] = difference;
}

// The part of columns x rows samples at the beginning of an image whose rows are `pitch` apart.
extern "C" __global__ void dwt2d_rows(const int* from, int* to, int columns, int rows, int pitch) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (2 * x < columns && y < rows) transform(from + y * pitch, to + y * pitch, 1, columns, x);
}

extern "C" __global__ void dwt2d_columns(const int* from, int* to, int columns, int rows,
                                         int pitch) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < columns && 2 * y < rows) transform(from + x, to + x, pitch, rows, y);
}
