#include <algorithm>
#include <utility>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/mpu_layout.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr int kTile = 32, kPenalty = 10;
constexpr int kCores = 128, kUnits = 4;  // in needleman_wunsch_mpu.cu

/// A multiple of kCores * kUnits.
int num_pairs(Size size) { return size == Size::kSmall ? 512 : 2048; }

/// The number of rows, a multiple of a tile.
int num_rows(Size size) {
  switch (size) {
    case Size::kSmall:
    case Size::kMedium:
      return kTile;
    case Size::kLarge:
      return 2 * kTile;
    case Size::kPaper:
      return 8 * kTile;
  }
  return 0;
}

size_t place_of(int pair) {
  return pair % kCores * kUnits + pair / kCores % kUnits +
         pair / (kCores * kUnits) * (kCores * kUnits);
}

std::vector<int32_t> aligned(const std::vector<int32_t>& similarity, int pairs, int rows) {
  std::vector<int32_t> score(similarity.size());
  for (int pair = 0; pair < pairs; ++pair) {
    std::vector<int32_t> above(kTile + 1), here(kTile + 1);
    for (int x = 0; x <= kTile; ++x) above[x] = -kPenalty * x;
    for (int y = 0; y < rows; ++y) {
      const size_t row = (size_t(y) * pairs + place_of(pair)) * kTile;
      here[0] = -kPenalty * (y + 1);
      for (int x = 0; x < kTile; ++x) {
        const int gap = std::max(above[x + 1], here[x]) - kPenalty;
        score[row + x] = here[x + 1] = std::max(above[x] + similarity[row + x], gap);
      }
      std::swap(above, here);
    }
  }
  return score;
}

class NeedlemanWunschMpu final : public Workload {
 public:
  std::string name() const override { return "needleman-wunsch-mpu"; }
  std::string variant_of() const override { return "needleman-wunsch"; }
  std::string description() const override {
    return "alignments of many pairs of sequences, a warp for each";
  }
  std::string source() const override { return kMpuSource; }
  std::string ptx_name() const override { return "needleman_wunsch_mpu.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int pairs = num_pairs(size), rows = num_rows(size);
    std::vector<int32_t> similarity(size_t(pairs) * rows * kTile);
    for (size_t i = 0; i < similarity.size(); ++i)
      similarity[i] = static_cast<int32_t>(random_below(153, i, 16)) - 4;
    const auto d_similarity = device.upload(similarity, "similarity");
    const auto d_score = device.allocate(similarity.size() * sizeof(int32_t), "score");
    device.launch(module, "needleman_mpu", {static_cast<uint32_t>(pairs)}, {kTile}, 0,
                  runtime::KernelArgs(d_similarity, d_score, rows, kPenalty));
    if (device.limit_reached()) return skipped_by_limit();
    return check_equal("score", device.download<int32_t>(d_score, similarity.size()),
                       aligned(similarity, pairs, rows));
  }
};

}  // namespace

std::unique_ptr<Workload> make_needleman_wunsch_mpu() {
  return std::make_unique<NeedlemanWunschMpu>();
}

}  // namespace nearwarp::workloads
