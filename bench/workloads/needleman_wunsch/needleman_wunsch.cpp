#include <algorithm>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr int kTile = 16;  // in needleman_wunsch.cu
constexpr int kPenalty = 10;
constexpr int kSymbols = 20;  // amino acids

int sequence_length(Size size) {
  switch (size) {
    case Size::kSmall:
      return 256;
    case Size::kMedium:
      return 1024;
    case Size::kLarge:
    case Size::kPaper:
      return 2048;  // Rodinia's
  }
  return 0;
}

/// A random symmetric matrix with the range of BLOSUM62: -4 to 3, and 4 to 11 on the diagonal.
int similarity_of(uint32_t a, uint32_t b) {
  const auto [low, high] = std::minmax(a, b);
  const int random = static_cast<int>(random_below(110, low * kSymbols + high, 8));
  return a == b ? 4 + random : random - 4;
}

class NeedlemanWunsch final : public Workload {
 public:
  std::string name() const override { return "needleman-wunsch"; }
  std::string description() const override {
    return "alignment of two sequences, a launch per diagonal of tiles of 16 x 16";
  }
  std::string source() const override { return "Rodinia, nw"; }
  std::string ptx_name() const override { return "needleman_wunsch.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int length = sequence_length(size), columns = length + 1, tiles = length / kTile;
    std::vector<int32_t> similarity(size_t(columns) * columns, 0), score(similarity);
    for (int y = 1; y < columns; ++y) {
      for (int x = 1; x < columns; ++x) {
        similarity[size_t(y) * columns + x] =
            similarity_of(random_below(111, y, kSymbols), random_below(112, x, kSymbols));
      }
      score[y] = score[size_t(y) * columns] = -kPenalty * y;
    }
    const auto d_similarity = device.upload(similarity, "similarity");
    const auto d_score = device.upload(score, "score");
    for (int diagonal = 0; diagonal < 2 * tiles - 1; ++diagonal) {
      const int first = std::max(0, diagonal - tiles + 1);
      const int last = std::min(diagonal, tiles - 1);
      device.launch(module, "needleman_diagonal", {static_cast<uint32_t>(last - first + 1)},
                    {kTile}, 0,
                    runtime::KernelArgs(d_similarity, d_score, columns, kPenalty, diagonal, first));
      if (device.limit_reached()) return skipped_by_limit();
    }
    for (int y = 1; y < columns; ++y) {
      for (int x = 1; x < columns; ++x) {
        const size_t here = size_t(y) * columns + x, above = here - columns;
        score[here] = std::max({score[above - 1] + similarity[here], score[above] - kPenalty,
                                score[here - 1] - kPenalty});
      }
    }
    return check_equal("score", device.download<int32_t>(d_score, score.size()), score);
  }
};

}  // namespace

std::unique_ptr<Workload> make_needleman_wunsch() { return std::make_unique<NeedlemanWunsch>(); }

}  // namespace nearwarp::workloads
