// cuFFT as an application uses it: the Poisson equation on a periodic grid of three dimensions, by transforms.
#include <cufft.h>

#include <cmath>
#include <vector>

#include "tests/cudart/apps/check.h"

#define FFT(call) CHECK((call) == CUFFT_SUCCESS)

constexpr int kN = 24;
constexpr double kPi = 3.14159265358979323846;

/// Divides by -(k^2), and by the size of the grid.
__global__ void invert(cufftDoubleComplex* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, half = kN / 2 + 1;
  if (i >= kN * kN * half) return;
  const auto wave = [](int k) { return k <= kN / 2 ? k : k - kN; };
  const int a = wave(i / half / kN), b = wave(i / half % kN), c = i % half;
  const double k2 = double(a * a + b * b + c * c), f = k2 == 0 ? 0 : -1 / k2 / (kN * kN * kN);
  x[i].x *= f;
  x[i].y *= f;
}

int main() {
  constexpr int kSize = kN * kN * kN, kHalf = kN * kN * (kN / 2 + 1);
  std::vector<double> source(kSize), solution(kSize);
  for (int i = 0; i < kSize; ++i) {
    const double x = 2 * kPi * (i / kN / kN) / kN, y = 2 * kPi * (i / kN % kN) / kN, z = 2 * kPi * (i % kN) / kN;
    solution[i] = std::sin(x) * std::cos(2 * y) + std::sin(3 * z);
    source[i] = -5 * std::sin(x) * std::cos(2 * y) - 9 * std::sin(3 * z);
  }
  double* field;
  cufftDoubleComplex* waves;
  CUDA(cudaMalloc(&field, kSize * sizeof(double)));
  CUDA(cudaMalloc(&waves, kHalf * sizeof(cufftDoubleComplex)));
  CUDA(cudaMemcpy(field, source.data(), kSize * sizeof(double), cudaMemcpyHostToDevice));
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  cufftHandle there, back;
  FFT(cufftPlan3d(&there, kN, kN, kN, CUFFT_D2Z));
  FFT(cufftCreate(&back));
  size_t work = 0;
  FFT(cufftMakePlan3d(back, kN, kN, kN, CUFFT_Z2D, &work));
  CHECK(work != 0);
  FFT(cufftSetStream(there, stream));
  FFT(cufftSetStream(back, stream));
  FFT(cufftExecD2Z(there, field, waves));
  invert<<<(kHalf + 255) / 256, 256, 0, stream>>>(waves);
  FFT(cufftExecZ2D(back, waves, field));
  std::vector<double> result(kSize);
  CUDA(cudaMemcpyAsync(result.data(), field, kSize * sizeof(double), cudaMemcpyDeviceToHost, stream));
  CUDA(cudaStreamSynchronize(stream));
  double worst = 0;
  for (int i = 0; i < kSize; ++i) worst = std::fmax(worst, std::fabs(result[i] - solution[i]));
  CHECK(worst < 1e-13);
  FFT(cufftDestroy(there));
  FFT(cufftDestroy(back));
  return passed();
}
