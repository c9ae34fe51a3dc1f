#include "host/timing/probe/program.h"

namespace nearwarp::probe {
namespace {

// work_of() for each kind of program.
uint64_t of(const Chase& c) { return c.steps; }
uint64_t of(const Stream& s) {
  const uint64_t read =
      uint64_t{s.blocks} * s.block_warps * (s.first_rounds + s.rounds) * kRound * kUnitBytes;
  return s.kind == Stream::Kind::kCopy ? 2 * read : read;
}
uint64_t of(const Resident& r) {
  return uint64_t{r.blocks} * r.block_warps * r.rounds * 4 * kRound * kUnitBytes;
}
uint64_t of(const RandomSectors& r) {
  return uint64_t{r.blocks} * r.block_warps * r.rounds * kRound * 32 * kSectorBytes;
}
uint64_t of(const Listed& l) {
  return uint64_t{l.blocks} * l.block_warps * l.rounds * kRound * kUnitBytes;
}
uint64_t of(const Near& n) {
  return uint64_t{n.blocks} * n.block_warps * n.rounds * kRound * kUnitBytes;
}

}  // namespace

uint64_t work_of(const Program& program) {
  return std::visit([](const auto& what) { return of(what); }, program.what);
}

}  // namespace nearwarp::probe
