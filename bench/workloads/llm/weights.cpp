#include "bench/workloads/llm/weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "bench/workloads/common/random.h"
#include "host/core/error.h"

namespace nearwarp::workloads::llm {
namespace {

int bits_of(Format format) {
  if (format == Format::kInt4) return 4;
  return format == Format::kF16 || format == Format::kBf16 ? 16 : 8;
}

uint16_t to_bf16(float v) {
  const auto bits = std::bit_cast<uint32_t>(v);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// The scale of weights of a format whose own scale is 1 that keeps products with a vector small.
float usual_scale(Format format) {
  if (format == Format::kInt4) return 0.01f;
  return format == Format::kInt8 ? 0.0005f : 0.0003f;
}

}  // namespace

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> names = {"f16", "bf16", "int8", "int4", "fp8"};
  return names;
}

Format format_named(const std::string& name) {
  const auto& names = format_names();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) throw Error("there is no format of weights '" + name + "'");
  return static_cast<Format>(at - names.begin());
}

Weights random_weights(uint64_t stream, Format format, int rows, int columns) {
  Weights w{format, rows, columns, {}, {}};
  const size_t count = static_cast<size_t>(rows) * static_cast<size_t>(columns);
  w.bytes.resize(count * static_cast<size_t>(bits_of(format)) / 8);
  if (bits_of(format) == 16) {
    // Uniform in (-a, a) with a variance of one over the columns.
    const float a = std::sqrt(3.0f / static_cast<float>(columns));
    for (size_t i = 0; i < count; ++i) {
      const float v = (2 * random_unit(stream, i) - 1) * a;
      const uint16_t bits = format == Format::kF16 ? to_half(v) : to_bf16(v);
      std::memcpy(&w.bytes[2 * i], &bits, 2);
    }
    return w;
  }
  for (size_t i = 0; i < w.bytes.size(); i += 4) {
    const auto word = static_cast<uint32_t>(random_bits(stream, i / 4) >> 32);
    std::memcpy(&w.bytes[i], &word, 4);
  }
  if (format == Format::kFp8)  // 0x7f and 0xff are no numbers
    for (uint8_t& b : w.bytes) b = (b & 0x7f) == 0x7f ? b ^ 1 : b;
  w.scales.resize(count / kGroup);
  for (size_t i = 0; i < w.scales.size(); ++i)
    w.scales[i] = to_half((0.5f + random_unit(stream + 1, i)) * usual_scale(format));
  return w;
}

float from_fp8(uint8_t bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9)
                                   : std::ldexp(static_cast<float>(fraction | 8), exponent - 10);
  return (bits & 0x80) != 0 ? -size : size;
}

void row_of(const Weights& w, int row, float* to) {
  const auto columns = static_cast<size_t>(w.columns);
  const size_t first = static_cast<size_t>(row) * columns;
  for (size_t i = 0; i < columns; ++i) {
    const size_t at = first + i;
    if (bits_of(w.format) == 16) {
      uint16_t bits;
      std::memcpy(&bits, &w.bytes[2 * at], 2);
      to[i] = w.format == Format::kF16 ? from_half(bits)
                                       : std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
      continue;
    }
    float value;
    if (w.format == Format::kInt4)
      value = static_cast<float>((w.bytes[at / 2] >> (at % 2 * 4) & 15) - 8);
    else if (w.format == Format::kInt8)
      value = static_cast<float>(static_cast<int8_t>(w.bytes[at]));
    else
      value = from_fp8(w.bytes[at]);
    to[i] = from_half(w.scales[at / kGroup]) * value;
  }
}

std::vector<float> product(const Weights& w, const std::vector<float>& x) {
  const auto columns = static_cast<size_t>(w.columns), rows = static_cast<size_t>(w.rows);
  const size_t tokens = x.size() / columns;
  std::vector<float> y(tokens * rows), row(columns);
  for (size_t r = 0; r < rows; ++r) {
    row_of(w, static_cast<int>(r), row.data());
    for (size_t t = 0; t < tokens; ++t) {
      double sum = 0;
      for (size_t i = 0; i < columns; ++i) sum += double{row[i]} * x[t * columns + i];
      y[t * rows + r] = static_cast<float>(sum);
    }
  }
  return y;
}

}  // namespace nearwarp::workloads::llm
