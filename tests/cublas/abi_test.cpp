// Is the binary interface, as host/functional/cublas/abi.h and lt/descriptors.h have it, the one of
// the toolkit's headers?
#include "host/functional/cublas/abi.h"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "host/functional/cublas/lt/descriptors.h"

namespace nearwarp::cublas {
namespace {

TEST(CublasAbi, Values) {
  EXPECT_EQ(int{kInvalidValue}, int{CUBLAS_STATUS_INVALID_VALUE});
  EXPECT_EQ(int{kNotSupported}, int{CUBLAS_STATUS_NOT_SUPPORTED});
  EXPECT_EQ(int{kNotInitialized}, int{CUBLAS_STATUS_NOT_INITIALIZED});
  EXPECT_EQ(int{kExecutionFailed}, int{CUBLAS_STATUS_EXECUTION_FAILED});
  EXPECT_EQ(int{kMappingError}, int{CUBLAS_STATUS_MAPPING_ERROR});
  EXPECT_EQ(int{kConjugateTranspose}, int{CUBLAS_OP_C});
  EXPECT_EQ(int{kDevicePointers}, int{CUBLAS_POINTER_MODE_DEVICE});
  EXPECT_EQ(int{kF32}, int{CUDA_R_32F});
  EXPECT_EQ(int{kF64}, int{CUDA_R_64F});
  EXPECT_EQ(int{kF16}, int{CUDA_R_16F});
  EXPECT_EQ(int{kBf16}, int{CUDA_R_16BF});
  EXPECT_EQ(int{kS8}, int{CUDA_R_8I});
  EXPECT_EQ(int{kC32}, int{CUDA_C_32F});
  EXPECT_EQ(int{kC64}, int{CUDA_C_64F});
  EXPECT_EQ(int{kS32}, int{CUDA_R_32I});
  EXPECT_EQ(int{kCompute16F}, int{CUBLAS_COMPUTE_16F});
  EXPECT_EQ(int{kCompute32F}, int{CUBLAS_COMPUTE_32F});
  EXPECT_EQ(int{kCompute32FFastTf32}, int{CUBLAS_COMPUTE_32F_FAST_TF32});
  EXPECT_EQ(int{kCompute64F}, int{CUBLAS_COMPUTE_64F});
  EXPECT_EQ(int{kCompute32I}, int{CUBLAS_COMPUTE_32I});
}

TEST(CublasAbi, DescriptorsOfLt) {
  static_assert(sizeof(MatrixLayout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
  static_assert(sizeof(MatmulDesc) <= sizeof(cublasLtMatmulDescOpaque_t));
  static_assert(sizeof(MatmulPreference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));
  static_assert(sizeof(MatmulHeuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
  EXPECT_EQ(int{kRows}, int{CUBLASLT_ORDER_ROW});
  EXPECT_EQ(uint32_t{kLtBias | kLtGelu | kLtAux}, uint32_t{CUBLASLT_EPILOGUE_GELU_AUX_BIAS});
  EXPECT_EQ(uint32_t{kLtReluGradient | kLtAux}, uint32_t{CUBLASLT_EPILOGUE_DRELU});
  EXPECT_EQ(uint32_t{kLtGeluGradient | kLtAux}, uint32_t{CUBLASLT_EPILOGUE_DGELU});
  // Attributes that descriptors.cpp numbers.
  EXPECT_EQ(int{CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET}, 6);
  EXPECT_EQ(int{CUBLASLT_MATMUL_DESC_TRANSB}, 4);
  EXPECT_EQ(int{CUBLASLT_MATMUL_DESC_EPILOGUE}, 7);
  EXPECT_EQ(int{CUBLASLT_MATMUL_DESC_BIAS_POINTER}, 8);
  EXPECT_EQ(int{CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE}, 13);
  EXPECT_EQ(int{CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE}, 26);
}

/// Every function that the headers declare is in a list of names, so that it can be called.
TEST(CublasAbi, EveryNameIsThere) {
  for (const auto& [header, names, prefix] :
       {std::tuple{"/cublas_api.h", "/names.txt", "cublas"},
        std::tuple{"/cublasLt.h", "/lt/names.txt", "cublasLt"}}) {
    std::ifstream listed(std::string(NW_CUBLAS_SOURCES) + names);
    std::string list((std::istreambuf_iterator<char>(listed)), {});
    ASSERT_FALSE(list.empty());
    std::ifstream text(std::string(NW_CUDA_INCLUDE) + header);
    size_t found = 0;
    for (std::string line; std::getline(text, line);) {
      const size_t at = line.find("CUBLASWINAPI ");
      if (at == std::string::npos || line.find("typedef") != std::string::npos) continue;
      const size_t begin = at + 13, end = line.find('(', begin);
      const std::string name = line.substr(begin, end - begin);
      if (!name.starts_with(prefix)) continue;
      EXPECT_NE(list.find(name + "\n"), std::string::npos) << name;
      ++found;
    }
    EXPECT_GT(found, 20u) << header;
  }
}

}  // namespace
}  // namespace nearwarp::cublas
