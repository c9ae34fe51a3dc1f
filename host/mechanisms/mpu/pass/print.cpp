// The locations of a kernel's registers and instructions as text.
#include "host/functional/compiler/print.h"

#include <fmt/format.h>

#include "host/functional/compiler/visit.h"
#include "host/mechanisms/mpu/pass/locations.h"

namespace nearwarp::mpu {

namespace {

using compiler::InstrId;
using compiler::Kernel;
using compiler::RegId;

char letter(Location l) {
  constexpr char kLetters[] = {'-', 'N', 'F', 'B'};
  return kLetters[static_cast<size_t>(l)];
}

/// Counts things by location.
struct Shares {
  size_t of[4] = {};
  void add(Location l) { of[static_cast<size_t>(l)] += 1; }
  std::string text(const char* what) const {
    const size_t all = of[0] + of[1] + of[2] + of[3];
    const auto share = [&](Location l) {
      return all == 0
                 ? 0.0
                 : 100 * static_cast<double>(of[static_cast<size_t>(l)]) / static_cast<double>(all);
    };
    return fmt::format("  {} {}: N {:.1f} %, F {:.1f} %, B {:.1f} %, none {:.1f} %\n", all, what,
                       share(Location::kNear), share(Location::kFar), share(Location::kBoth),
                       share(Location::kUnknown));
  }
};

/// The text of the place at which threads meet again after a branch, such as "line 12".
std::string meeting_point(const Kernel& kernel, compiler::BlockId block) {
  if (block == compiler::kNone) return "the end";
  return fmt::format("line {}", kernel.instructions[kernel.blocks[block].first].ptx_line);
}

}  // namespace

std::string format_locations(const Kernel& kernel, const Readings& readings, size_t width) {
  constexpr size_t kBelow = 18;
  const Locations l = annotate_locations(kernel, readings);
  const Allocation a = allocate_by_location(kernel, l);
  std::string text = fmt::format("kernel {}\n", kernel.name);
  Shares instructions, registers;
  for (const compiler::Block& b : kernel.blocks)
    for (InstrId i = b.first; i < b.first + b.count; ++i) {
      const compiler::Instruction& in = kernel.instructions[i];
      const Location where = executed_at(kernel, l, i, readings);
      instructions.add(where);
      std::string places;
      const auto place = [&](RegId r) {
        places += fmt::format(" {}:{}", kernel.registers[r].name, letter(l.registers[r]));
      };
      compiler::for_each_def(in, place);
      compiler::for_each_use(in, place);
      const std::string line =
          fmt::format("  line {:<5} {}{} {}", in.ptx_line, letter(where),
                      is_far_operation(in, readings) ? '*' : ' ', compiler::to_string(kernel, in));
      // Locations stand beside the instruction if there is room, else below it.
      constexpr size_t kPlaces = 54;
      text += line.size() <= kPlaces && kPlaces + places.size() <= width
                  ? fmt::format("{:<{}}{}\n", line, kPlaces, places)
                  : fmt::format("{}\n{:{}}{}\n", line, "", kBelow, places);
    }
  for (const compiler::Block& b : kernel.blocks) {
    if (b.count == 0 || b.successors.size() < 2) continue;
    const compiler::Instruction& last = kernel.instructions[b.first + b.count - 1];
    text += fmt::format("  branch in line {}: threads meet again at {}\n", last.ptx_line,
                        meeting_point(kernel, b.ipdom));
  }
  for (RegId r = 0; r < kernel.registers.size(); ++r)
    if (a.physical[r] != compiler::kNone) registers.add(l.registers[r]);
  text += instructions.text("instructions") + registers.text("registers");
  const Allocation both = allocate_for_both(kernel);
  return text + fmt::format(
                    "  physical registers of a thread: {} near the banks, {} on the logic die; not "
                    "annotated: {} in each\n",
                    a.registers.near + a.registers.both, a.registers.far + a.registers.both,
                    both.registers.all());
}

}  // namespace nearwarp::mpu
