#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/mummer/suffix_tree.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockThreads = 256;  // MUMmerGPU's
constexpr int kReadLength = 25;          // of one of Rodinia's inputs, which has 50,000 reads

struct Shape {
  int reference, reads;
};

Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {20'000, 2048};  // symbols of the reference of Rodinia's smaller input
    case Size::kMedium:
      return {200'000, 16'384};
    case Size::kLarge:
      return {1'000'000, 131'072};
    case Size::kPaper:
      return {2'000'000, 524'288};
  }
  return {};
}

/// DNA of which a third consists of copies of earlier parts, with an error in one of sixteen
/// symbols. The tree of purely random symbols would have the same depth everywhere.
std::vector<uint8_t> make_reference(int length) {
  constexpr int kPiece = 500;
  std::vector<uint8_t> text(length);
  for (int i = 0; i < length; ++i) {
    const int piece = i / kPiece;
    const bool copied = piece > 0 && random_below(131, piece, 3) == 0;
    text[i] = static_cast<uint8_t>(random_below(130, i, 4));
    if (copied && random_below(132, i, 16) != 0)
      text[i] = text[random_below(133, piece, (piece - 1) * kPiece + 1) + i % kPiece];
  }
  return text;
}

/// Parts of the reference, with about one in fifty symbols changed.
std::vector<uint8_t> make_reads(const std::vector<uint8_t>& reference, int count) {
  std::vector<uint8_t> reads(size_t(count) * kReadLength);
  for (size_t i = 0; i < reads.size(); ++i) {
    const uint32_t from = random_below(134, i / kReadLength,
                                       static_cast<uint32_t>(reference.size()) - kReadLength + 1);
    reads[i] = random_below(135, i, 50) == 0 ? static_cast<uint8_t>(random_below(136, i, 4))
                                             : reference[from + i % kReadLength];
  }
  return reads;
}

class Mummer final : public Workload {
 public:
  std::string name() const override { return "mummer"; }
  std::string description() const override {
    return "reads of DNA against the suffix tree of a reference, a thread per read";
  }
  std::string source() const override { return "Rodinia, mummergpu"; }
  std::string ptx_name() const override { return "mummer.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [length, count] = shape_of(size);
    const std::vector<uint8_t> reference = make_reference(length);
    const std::vector<uint8_t> reads = make_reads(reference, count);
    const auto nodes = device.upload(suffix_tree(reference), "tree");
    const auto d_reference = device.upload(reference, "reference");
    const auto d_reads = device.upload(reads, "reads");
    const auto matches = device.allocate(reads.size() * sizeof(int32_t), "matches");
    device.launch(module, "mummer_match", blocks_for(count, kBlockThreads), {kBlockThreads}, 0,
                  runtime::KernelArgs(nodes, d_reference, d_reads, matches, count, kReadLength));
    if (device.limit_reached()) return skipped_by_limit();
    const std::vector<int32_t> suffixes = sorted_suffixes(reference);
    std::vector<int32_t> expected;
    for (int read = 0; read < count; ++read) {
      const auto of_read = longest_matches(reference, suffixes,
                                           reads.data() + size_t(read) * kReadLength, kReadLength);
      expected.insert(expected.end(), of_read.begin(), of_read.end());
    }
    return check_equal("matches", device.download<int32_t>(matches, reads.size()), expected);
  }
};

}  // namespace

std::unique_ptr<Workload> make_mummer() { return std::make_unique<Mummer>(); }

}  // namespace nearwarp::workloads
