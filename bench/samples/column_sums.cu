// Sums the columns of a matrix, and checks the result on the host.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                             \
  do {                                                                          \
    const cudaError_t status = (call);                                          \
    if (status != cudaSuccess) {                                                \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));      \
      std::exit(1);                                                             \
    }                                                                           \
  } while (0)

/// A thread for each column.
__global__ void column_sums(const float* matrix, int rows, int columns, float* sums) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  float sum = 0;
  for (int r = 0; r < rows; ++r) sum += matrix[static_cast<size_t>(r) * columns + c];
  sums[c] = sum;
}

int main(int argc, char** argv) {
  const int rows = argc > 1 ? std::atoi(argv[1]) : 64, columns = 16384;
  std::vector<float> matrix(static_cast<size_t>(rows) * columns), found(columns);
  for (size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<float>(i * 7 % 16);
  float *d_matrix, *d_sums;
  CHECK(cudaMalloc(&d_matrix, matrix.size() * sizeof(float)));
  CHECK(cudaMalloc(&d_sums, columns * sizeof(float)));
  CHECK(cudaMemcpy(d_matrix, matrix.data(), matrix.size() * sizeof(float), cudaMemcpyHostToDevice));
  column_sums<<<columns / 256, 256>>>(d_matrix, rows, columns, d_sums);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(found.data(), d_sums, columns * sizeof(float), cudaMemcpyDeviceToHost));
  bool right = true;
  for (int c = 0; c < columns; ++c) {
    float sum = 0;  // small whole numbers: exact in any order
    for (int r = 0; r < rows; ++r) sum += matrix[static_cast<size_t>(r) * columns + c];
    right = right && found[c] == sum;
  }
  std::printf("sums of %d columns: %s\n", columns, right ? "right" : "WRONG");
  return right ? 0 : 1;
}
