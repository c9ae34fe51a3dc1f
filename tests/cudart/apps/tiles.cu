// Tensor maps made by the driver's entry points, and kernels that work on tiles by them (for 9.0a).
#include <cuda.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/cudart/apps/check.h"
#include "tests/runtime/breadth/tile_kernels.cu"

namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

Encode entry_point() {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult result;
  CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &address, 12000, cudaEnableDefault,
                                         &result));
  return reinterpret_cast<Encode>(address);
}

CUresult make(Encode encode, Map* map, CUtensorMapDataType type, int bytes, void* p, int width,
              int height, int box_width, int box_height, CUtensorMapSwizzle swizzle) {
  const cuuint64_t sizes[] = {cuuint64_t(width), cuuint64_t(height)};
  const cuuint64_t strides[] = {cuuint64_t(width) * bytes};
  const cuuint32_t box[] = {cuuint32_t(box_width), cuuint32_t(box_height)}, steps[] = {1, 1};
  alignas(64) CUtensorMap made;
  const CUresult status = encode(&made, type, 2, p, sizes, strides, box, steps,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  std::memcpy(map, &made, sizeof(*map));
  return status;
}

}  // namespace

int main() {
  const Encode encode = entry_point();
  CHECK(encode != nullptr);
  constexpr int kM = 256, kN = 256, kK = 512;
  // Bits of 1.0, 2.0 and so on as bf16, which are the upper halves of floats.
  std::vector<unsigned short> a(kM * kK), b(kN * kK);
  std::vector<float> fa(kM * kK), fb(kN * kK);
  const auto fill = [](std::vector<unsigned short>* bits, std::vector<float>* values, int seed) {
    for (size_t i = 0; i < bits->size(); ++i) {
      const float v = static_cast<float>(static_cast<int>(static_cast<unsigned>(i * 7 + seed) * 2654435761u >> 28) - 8);
      unsigned word;
      std::memcpy(&word, &v, 4);
      (*values)[i] = v;
      (*bits)[i] = static_cast<unsigned short>(word >> 16);
    }
  };
  fill(&a, &fa, 1);
  fill(&b, &fb, 5);
  void *pa, *pb;
  float* pc;
  CUDA(cudaMalloc(&pa, a.size() * 2));
  CUDA(cudaMalloc(&pb, b.size() * 2));
  CUDA(cudaMalloc(&pc, kM * kN * 4));
  CUDA(cudaMemcpy(pa, a.data(), a.size() * 2, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(pb, b.data(), b.size() * 2, cudaMemcpyHostToDevice));
  Map ma, mb;
  CHECK(make(encode, &ma, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, pa, kK, kM, 64, 128,
              CU_TENSOR_MAP_SWIZZLE_128B) == CUDA_SUCCESS);
  CHECK(make(encode, &mb, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, pb, kK, kN, 64, 128,
              CU_TENSOR_MAP_SWIZZLE_128B) == CUDA_SUCCESS);
  // Rows of more than a swizzle's width, and an address in between, have no map.
  Map none;
  CHECK(make(encode, &none, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, pa, kK, kM, 128, 128,
              CU_TENSOR_MAP_SWIZZLE_128B) == CUDA_ERROR_INVALID_VALUE);
  CHECK(make(encode, &none, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, static_cast<char*>(pa) + 8, kK, kM,
              64, 128, CU_TENSOR_MAP_SWIZZLE_128B) == CUDA_ERROR_INVALID_VALUE);
  constexpr int kShared = 4 * 2 * 128 * 128;
  CUDA(cudaFuncSetAttribute(gemm_bf16, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  gemm_bf16<<<dim3(kN / 128, kM / 128), 384, kShared>>>(ma, mb, pc, kN, kK / 64);
  CUDA(cudaGetLastError());
  std::vector<float> c(kM * kN);
  CUDA(cudaMemcpy(c.data(), pc, c.size() * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int k = 0; k < kK; ++k) sum += fa[i * kK + k] * fb[j * kK + k];
      CHECK(c[i * kN + j] == sum);
    }
  return passed();
}
