// TOM's equations (3) and (4), in integers.
#include "host/mechanisms/tom/pass/equations.h"

#include <fmt/format.h>

namespace nearwarp::compiler {
namespace {

/// The bandwidth of a byte of a shared array, which is sent once for the warp: a fourth of an
/// address.
constexpr int64_t kSharedByte = Bandwidth::kOne / 4;

}  // namespace

std::string Bandwidth::text() const {
  if (raw_ == 0) return "0";
  const uint64_t magnitude = raw_ < 0 ? uint64_t{0} - static_cast<uint64_t>(raw_) : raw_;
  std::string fraction = fmt::format("{:04}", magnitude % kOne);
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  return fmt::format("{}{}{}{}", raw_ < 0 ? "-" : "+", magnitude / kOne,
                     fraction.empty() ? "" : ".", fraction);
}

Bandwidth bw_tx(const OffloadModel& model, const OffloadTerms& terms) {
  const int64_t warp = model.warp_size * Bandwidth::kOne;
  // Percent times percent are ten-thousandths, of which one percent has a hundred.
  const int64_t per_load = int64_t{model.coal_ld_percent} * model.miss_ld_percent;
  const int64_t per_store = warp + int64_t{model.coal_st_percent} * 100;
  return Bandwidth::from_raw(terms.reg_tx * warp + terms.shared_tx * kSharedByte -
                             terms.n_ld * per_load - terms.n_st * per_store);
}

Bandwidth bw_rx(const OffloadModel& model, const OffloadTerms& terms) {
  const int64_t warp = model.warp_size * Bandwidth::kOne;
  const int64_t per_load =
      int64_t{model.coal_ld_percent} * model.miss_ld_percent * model.line_to_address_ratio;
  // A store's acknowledgement is a fourth of an address.
  const int64_t per_store = int64_t{model.coal_st_percent} * 100 / 4;
  return Bandwidth::from_raw(terms.reg_rx * warp + terms.shared_rx * kSharedByte -
                             terms.n_ld * per_load - terms.n_st * per_store);
}

Bandwidth bw_total(const OffloadModel& model, const OffloadTerms& terms) {
  return bw_tx(model, terms) + bw_rx(model, terms);
}

OffloadTerms with_iterations(const OffloadTerms& base, const OffloadTerms& per_iteration,
                             int64_t iterations) {
  return {.reg_tx = base.reg_tx,
          .reg_rx = base.reg_rx,
          .n_ld = base.n_ld + per_iteration.n_ld * iterations,
          .n_st = base.n_st + per_iteration.n_st * iterations,
          .shared_tx = base.shared_tx,
          .shared_rx = base.shared_rx};
}

int64_t break_even_iterations(const OffloadModel& model, const OffloadTerms& base,
                              const OffloadTerms& per_iteration) {
  const int64_t cost = bw_total(model, base).raw();
  if (cost < 0) return 0;
  const int64_t saving =
      -bw_total(model, {.n_ld = per_iteration.n_ld, .n_st = per_iteration.n_st}).raw();
  if (saving <= 0) return -1;
  return cost / saving + 1;  // the least n with cost - n * saving < 0
}

}  // namespace nearwarp::compiler
