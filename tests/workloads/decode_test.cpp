// Do the decoding programs compute what the CPU does, whatever their names set?
#include <gtest/gtest.h>

#include <cmath>

#include "bench/workloads/llm/model.h"
#include "bench/workloads/workload.h"
#include "host/core/error.h"

namespace nearwarp::workloads {
namespace {

class Decode : public testing::TestWithParam<const char*> {};

TEST_P(Decode, EqualsTheReference) {
  const Workload* workload = find(GetParam());
  ASSERT_NE(workload, nullptr);
  EXPECT_EQ(workload->name(), GetParam());
  runtime::VirtualDevice device;
  const CheckResult result = workload->run(device, Size::kSmall);
  EXPECT_TRUE(result.passed) << result.detail;
}

INSTANTIATE_TEST_SUITE_P(
    Parameters, Decode,
    testing::Values("decode-gemv:weights=bf16", "decode-gemv:weights=int8",
                    "decode-gemv:weights=fp8", "decode-gemv:weights=int4:batch=9",
                    "decode-gemv:batch=2", "decode-gemv:batch=17:weights=fp8",
                    "decode-gemv-rolled:batch=3", "decode-attention:cache=pages",
                    "decode-attention:cache=pages:batch=3:context=129:queries=8",
                    "decode-attention:batch=2:context=128:queries=1",
                    "decode-attention:context=130:queries=32", "decode-step:batch=3:context=128",
                    "decode-step:batch=1:context=1000:layers=1",
                    "decode-step:weights=int4:batch=2:context=128",
                    "decode-step:weights=fp8:layers=3:context=128", "decode-experts:batch=1",
                    "decode-experts:batch=9", "decode-between:part=sampling:batch=64",
                    "decode-between:part=embedding:batch=1", "decode-between:part=norm:batch=2",
                    "decode-between:part=rotary:batch=2"));

TEST(DecodeParameters, WrongOnesSayWhatIsRight) {
  const auto error = [](const std::string& name) {
    try {
      find(name);
    } catch (const UsageError& e) {
      return std::string(e.what());
    }
    return std::string("found");
  };
  EXPECT_EQ(error("decode-step:bach=2"),
            "workload 'decode-step' has no parameter 'bach' - it has batch (1 to 64), context (128 "
            "to 32768), layers (1 to 4), weights (f16, bf16, int8, int4, fp8)");
  for (const char* value : {"", "0", "65", "1x", "-1", "99999999999999999999", "8=8"})
    EXPECT_EQ(error(std::string("decode-step:batch=") + value),
              std::string("parameter 'batch' of workload 'decode-step' cannot be '") + value +
                  "' - valid: 1 to 64");
  EXPECT_NE(error("decode-step:batch").find("cannot be ''"), std::string::npos);
  EXPECT_NE(error("decode-step:").find("no parameter ''"), std::string::npos);
  EXPECT_NE(error("decode-step:batch=2:batch=2").find("twice"), std::string::npos);
  EXPECT_NE(error("kmeans:batch=2").find("no parameters"), std::string::npos);
  EXPECT_EQ(find("no-such-workload:batch=2"), nullptr);
}

TEST(DecodeWeights, EveryFp8IsWhatItsBitsSay) {
  EXPECT_EQ(llm::from_fp8(0x38), 1.0f);
  EXPECT_EQ(llm::from_fp8(0x7e), 448.0f);
  EXPECT_EQ(llm::from_fp8(0x01), std::ldexp(1.0f, -9));
  EXPECT_EQ(llm::from_fp8(0xb8), -1.0f);
}

TEST(DecodeWeights, HalvesGoThereAndBack) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    EXPECT_EQ(to_half(from_half(static_cast<Half>(bits))), bits);
    EXPECT_EQ(from_half(static_cast<Half>(bits | 0x8000)), -from_half(static_cast<Half>(bits)));
  }
  EXPECT_EQ(from_half(0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(from_half(0x7bff), 65504.0f);
}

}  // namespace
}  // namespace nearwarp::workloads
