// Weight matrices in the formats that language models are kept in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/workloads/llm/half.h"

namespace nearwarp::workloads::llm {

inline constexpr int kGroup = 128;  // weights of 8 and 4 bits that share a scale

enum class Format { kF16, kBf16, kInt8, kInt4, kFp8 };
/// "f16", "bf16", "int8", "int4", "fp8", in the order of the enumeration.
const std::vector<std::string>& format_names();
Format format_named(const std::string& name);

/// A matrix by rows, as its bytes.
struct Weights {
  Format format = Format::kF16;
  int rows = 0, columns = 0;
  std::vector<uint8_t> bytes;
  std::vector<Half> scales;  ///< [row * groups + group], of formats that have them
};

/// Numbers about 0 whose rows' products with numbers of size 1 have a size of about 1.
Weights random_weights(uint64_t stream, Format format, int rows, int columns);

/// Row `row` as numbers, into `to`, which has a place for each column.
void row_of(const Weights& w, int row, float* to);
/// The value of an e4m3 that is a number.
float from_fp8(uint8_t bits);

/// W x[token] for each of the tokens in x, one after the other: y[token * rows + row].
std::vector<float> product(const Weights& w, const std::vector<float>& x);

}  // namespace nearwarp::workloads::llm
