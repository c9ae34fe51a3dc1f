#include "bench/workloads/common/check.h"
#include "bench/workloads/common/first_round.h"
#include "bench/workloads/md/neighbours.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockThreads = 256;  // SHOC's

// SHOC's, in the units of its box.
constexpr float kCutoffSquared = 16.0f, kLj1 = 1.5f, kLj2 = 2.0f;

int num_atoms(Size size) {
  switch (size) {
    case Size::kSmall:
      return 1536;
    case Size::kMedium:
      return 12'288;  // SHOC's size 1
    case Size::kLarge:
      return 36'864;  // size 3
    case Size::kPaper:
      return 73'728;  // size 4
  }
  return 0;
}

/// Forces (x, y, z, 0) added up in the device's order, from `first(atom)` on.
template <class First>
std::vector<float> forces(const std::vector<MdAtom>& atoms, const std::vector<int32_t>& neighbours,
                          First first) {
  std::vector<float> all;
  for (size_t i = 0; i < atoms.size(); ++i) {
    const MdAtom& here = atoms[i];
    float fx = 0.0f, fy = 0.0f, fz = 0.0f;
    int j = first(i);
    for (int round = 0; round < kMdNeighbours; ++round) {
      const MdAtom& there = atoms[neighbours[j * atoms.size() + i]];
      const float r2 = md_distance_squared(here, there);
      if (r2 < kCutoffSquared) {
        const float inverse = 1.0f / r2;
        const float inverse6 = inverse * inverse * inverse;
        const float f = inverse * inverse6 * (kLj1 * inverse6 - kLj2);
        fx += (here.x - there.x) * f;
        fy += (here.y - there.y) * f;
        fz += (here.z - there.z) * f;
      }
      j = j + 1 < kMdNeighbours ? j + 1 : 0;
    }
    all.insert(all.end(), {fx, fy, fz, 0.0f});
  }
  return all;
}

class Md final : public Workload {
 public:
  explicit Md(bool restructured) : restructured_(restructured) {}
  std::string name() const override { return restructured_ ? "md-restructured" : "md"; }
  std::string variant_of() const override { return restructured_ ? "md" : ""; }
  std::string description() const override {
    return restructured_ ? "md with lists in panels of 32 atoms"
                         : "Lennard-Jones forces from lists of 128 neighbours, a thread per atom";
  }
  std::string source() const override {
    return restructured_ ? "SHOC, MD; Wu et al. (ICS 2020)" : "SHOC, MD";
  }
  std::string ptx_name() const override { return restructured_ ? "md_restructured.ptx" : "md.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int count = num_atoms(size);
    const std::vector<MdAtom> atoms = md_atoms(count);
    const std::vector<int32_t> neighbours = md_neighbours(atoms);
    const auto d_positions = device.upload(atoms, "positions");
    const auto d_forces = device.allocate(count * sizeof(MdAtom), "forces");
    const auto d_neighbours = device.upload(neighbours, "neighbours");
    const runtime::Dim3 grid = blocks_for(count, kBlockThreads);
    auto lists = d_neighbours;
    if (restructured_) {
      lists = device.allocate(neighbours.size() * sizeof(int32_t), "panels");
      device.launch(module, "md_panels", grid, {kBlockThreads}, 0,
                    runtime::KernelArgs(d_neighbours, lists, kMdNeighbours, count));
      if (device.limit_reached()) return skipped_by_limit();
    }
    device.launch(module, restructured_ ? "md_forces_panels" : "md_forces", grid, {kBlockThreads},
                  0,
                  runtime::KernelArgs(d_positions, d_forces, lists, kMdNeighbours, count,
                                      kCutoffSquared, kLj1, kLj2));
    if (device.limit_reached()) return skipped_by_limit();
    const std::vector<float> expected = forces(atoms, neighbours, [&](size_t atom) {
      return restructured_
                 ? static_cast<int>(first_round(static_cast<unsigned>(atom / 32), kMdNeighbours))
                 : 0;
    });
    return check_bits("forces", device.download<float>(d_forces, expected.size()), expected);
  }

 private:
  bool restructured_;
};

}  // namespace

std::unique_ptr<Workload> make_md() { return std::make_unique<Md>(false); }
std::unique_ptr<Workload> make_md_restructured() { return std::make_unique<Md>(true); }

}  // namespace nearwarp::workloads
