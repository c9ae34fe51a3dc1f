// TOM's equations for one piece of code.
#include "host/mechanisms/tom/pass/evaluate.h"

#include <algorithm>

#include "host/mechanisms/tom/pass/facts.h"

namespace nearwarp::compiler {
namespace {

/// The greatest number of executions of an access that ranking counts, so that sums fit 64 bits.
constexpr int64_t kMaxWeight = 1'000'000'000;

int64_t weighted(int64_t a, int64_t b) { return std::min(kMaxWeight, a * std::min(b, kMaxWeight)); }

bool has(const std::vector<BlockId>& sorted, BlockId block) {
  return std::binary_search(sorted.begin(), sorted.end(), block);
}

/// A loop that lies inside the piece as a whole.
struct InnerLoop {
  uint32_t loop = kNone;
  std::optional<TripCount> count;  ///< trip count, computed at the piece's entry
  std::optional<int64_t> static_count;
  const UnrolledLoop* unrolled = nullptr;  ///< the unrolled loop, if all its parts are in the piece

  /// May the loop's trips be the iterations of the condition? Of an unrolled loop's two loops only
  /// the remainder's may.
  bool may_decide() const {
    return !static_count &&
           (unrolled == nullptr || unrolled->remainder == kNone || loop == unrolled->remainder);
  }
  bool is_main() const { return unrolled != nullptr && loop == unrolled->main; }
};

/// Accesses outside of the decisive loop, and in one iteration of it.
struct Tally {
  OffloadTerms base, per_iteration;
};

class Evaluator {
 public:
  Evaluator(const OffloadContext& context, CandidateKind kind, const Piece& piece)
      : context_(context), kernel_(context.kernel()), kind_(kind), piece_(piece) {
    scope_.contains.assign(kernel_.blocks.size(), false);
    for (BlockId b : piece.blocks) scope_.contains[b] = true;
    scope_.entry = piece.entry;
    scope_.first = piece.first;
    if (kind != CandidateKind::kBlock) find_loops();  // a run of instructions holds no loop
  }

  Evaluation run() {
    Evaluation result;
    OffloadCandidate& c = result.candidate;
    describe(c);
    const OffloadTerms registers{
        .reg_tx = static_cast<int64_t>(c.live_ins.size() + c.special_live_ins.size()),
        .reg_rx = static_cast<int64_t>(c.live_outs.size()),
        .shared_tx = c.shared.kind == SharedKind::kTable ? c.shared.bytes : 0,
        .shared_rx = c.shared.kind == SharedKind::kAccumulator ? c.shared.bytes : 0};
    result.shared = c.shared;
    // A loop whose trip count is not static is assumed to run once (section 3.1.3, third case).
    c.base = with_crossings(tally(nullptr).base, registers);
    c.trip = loops_.empty() ? TripKind::kNoLoop
             : std::all_of(loops_.begin(), loops_.end(),
                           [](const InnerLoop& l) { return l.static_count.has_value(); })
                 ? TripKind::kStatic
                 : TripKind::kUnknown;
    c.iterations = loops_.size() == 1 && loops_[0].static_count ? *loops_[0].static_count : 1;
    set_bandwidth(c, c.base);
    result.qualifies = (c.tx + c.rx).saves();
    if (!result.qualifies && c.trip == TripKind::kUnknown)
      result.qualifies = make_conditional(registers, c);
    if (c.shared.refusal != SharedRefusal::kFits) result.qualifies = false;
    c.planned_saving = planned_saving(registers);
    if (result.qualifies) c.planned_saving = std::max<int64_t>(1, c.planned_saving);
    return result;
  }

 private:
  /// The terms of `accesses` for loads and stores, of `crossings` for all else: registers and
  /// shared memory that cross the piece's borders.
  static OffloadTerms with_crossings(OffloadTerms accesses, const OffloadTerms& crossings) {
    OffloadTerms terms = crossings;
    terms.n_ld = accesses.n_ld;
    terms.n_st = accesses.n_st;
    return terms;
  }

  void find_loops() {
    for (uint32_t l = 0; l < kernel_.loops.size(); ++l) {
      const Loop& loop = kernel_.loops[l];
      const bool inside = std::all_of(loop.blocks.begin(), loop.blocks.end(),
                                      [&](BlockId b) { return has(piece_.blocks, b); });
      if (!inside) continue;
      InnerLoop inner;
      inner.loop = l;
      loops_.push_back(inner);
    }
    for (InnerLoop& inner : loops_) {
      const UnrolledLoop* unrolled = context_.unrolled_of(inner.loop);
      if (unrolled != nullptr && holds(*unrolled)) inner.unrolled = unrolled;
      inner.count = inner.unrolled != nullptr
                        ? trips_at_entry(kernel_, context_.definitions(), scope_, *unrolled)
                        : trips_at_entry(kernel_, context_.definitions(), scope_,
                                         context_.trips()[inner.loop], inner.loop);
      if (inner.count && inner.unrolled == nullptr) inner.static_count = static_trips(*inner.count);
    }
  }

  /// Do all parts of an unrolled loop lie in the piece?
  bool holds(const UnrolledLoop& unrolled) const {
    return find(unrolled.main) != nullptr &&
           (unrolled.remainder == kNone || find(unrolled.remainder) != nullptr) &&
           std::all_of(unrolled.copies.begin(), unrolled.copies.end(), [&](const auto& copy) {
             return std::includes(piece_.blocks.begin(), piece_.blocks.end(), copy.begin(),
                                  copy.end());
           });
  }

  const InnerLoop* find(uint32_t loop) const {
    for (const InnerLoop& inner : loops_) {
      if (inner.loop == loop) return &inner;
    }
    return nullptr;
  }

  InstrId first_of(BlockId b) const {
    return b == piece_.entry ? piece_.first : kernel_.blocks[b].first;
  }
  InstrId last_of(BlockId b) const {
    const Block& block = kernel_.blocks[b];
    return std::min(piece_.last, block.first + block.count - 1);
  }

  /// The loops of the piece around a block, from the innermost outwards.
  std::vector<const InnerLoop*> loops_around(BlockId b) const {
    std::vector<const InnerLoop*> result;
    for (uint32_t l = kernel_.blocks[b].loop; l != kNone; l = kernel_.loops[l].parent) {
      if (const InnerLoop* inner = find(l)) result.push_back(inner);
    }
    return result;
  }

  /// A copy of an unrolled loop's body, by its number, and the main loop that it belongs to.
  struct Copy {
    const InnerLoop* main = nullptr;
    size_t number = 0;
  };
  /// The copy that a block belongs to; `main` is null if there is none.
  Copy copy_of(BlockId b) const {
    for (const InnerLoop& inner : loops_) {
      if (!inner.is_main()) continue;
      const auto& copies = inner.unrolled->copies;
      for (size_t k = 0; k < copies.size(); ++k) {
        if (has(copies[k], b)) return {&inner, k};
      }
    }
    return {};
  }

  /// Count accesses, assuming that every loop but `decisive` (nullptr: every loop) runs its static
  /// trip count, or once if that is unknown. For an unrolled loop only the remainder loop or the
  /// first copy is counted, as one iteration.
  Tally tally(const InnerLoop* decisive) const {
    Tally result;
    for (BlockId b : piece_.blocks) {
      const OffloadTerms here = context_.accesses(first_of(b), last_of(b));
      int64_t weight = 1;
      const Copy copy = copy_of(b);
      if (copy.main != nullptr && copy.number > 0) continue;
      bool per_iteration = copy.main != nullptr && copy.main == decisive;
      for (const InnerLoop* inner : loops_around(b)) {
        if (per_iteration) break;  // loops further out are factors of the number of iterations
        if (inner->is_main()) {
          weight = 0;
        } else if (inner == decisive) {
          per_iteration = true;
        } else {
          weight = weighted(weight, inner->static_count.value_or(1));
        }
      }
      OffloadTerms& target = per_iteration ? result.per_iteration : result.base;
      target.n_ld += here.n_ld * weight;
      target.n_st += here.n_st * weight;
    }
    return result;
  }

  /// The trip counts whose product is the decisive loop's iterations; empty if one is unknown.
  std::vector<TripCount> factors_of(const InnerLoop& decisive) const {
    std::vector<TripCount> factors;
    if (!decisive.count) return {};
    factors.push_back(*decisive.count);
    for (uint32_t l = kernel_.loops[decisive.loop].parent; l != kNone;
         l = kernel_.loops[l].parent) {
      const InnerLoop* outer = find(l);
      if (outer == nullptr) break;
      if (!outer->count || outer->unrolled != nullptr) return {};
      factors.push_back(*outer->count);
    }
    return factors;
  }

  /// Make the candidate conditional on the iterations of a loop that can be computed at entry. The
  /// deepest such loop is chosen, since it has the most iterations, then the lowest threshold.
  /// Returns false if no loop will do.
  bool make_conditional(const OffloadTerms& registers, OffloadCandidate& c) const {
    uint32_t best_depth = 0;
    bool found = false;
    for (const InnerLoop& inner : loops_) {
      if (!inner.may_decide()) continue;
      const std::vector<TripCount> factors = factors_of(inner);
      if (factors.empty()) continue;
      Tally tallied = tally(&inner);
      tallied.base = with_crossings(tallied.base, registers);
      const int64_t threshold =
          break_even_iterations(context_.model(), tallied.base, tallied.per_iteration);
      if (threshold < 1) continue;
      const uint32_t depth = kernel_.loops[inner.loop].depth;
      if (found && (depth < best_depth || (depth == best_depth && threshold >= c.iterations)))
        continue;
      found = true;
      best_depth = depth;
      c.trip = TripKind::kConditional;
      c.base = tallied.base;
      c.per_iteration = tallied.per_iteration;
      c.iterations = threshold;
      c.condition.factors = factors;
      c.condition.threshold_iterations = threshold;
      c.condition.count_blocks = count_blocks(inner);
      set_bandwidth(c, with_iterations(c.base, c.per_iteration, threshold));
    }
    return found;
  }

  std::vector<CountBlock> count_blocks(const InnerLoop& decisive) const {
    const auto block_of = [&](uint32_t loop) { return context_.trips()[loop].count_block; };
    const UnrolledLoop* unrolled = decisive.unrolled;
    if (unrolled == nullptr) return {{block_of(decisive.loop), 1}};
    std::vector<CountBlock> result{{block_of(unrolled->main), unrolled->unroll}};
    if (unrolled->remainder != kNone) result.push_back({block_of(unrolled->remainder), 1});
    for (const auto& copy : unrolled->copies) result.push_back({copy.front(), 1});
    return result;
  }

  void set_bandwidth(OffloadCandidate& c, const OffloadTerms& terms) const {
    c.terms = terms;
    c.tx = bw_tx(context_.model(), terms);
    c.rx = bw_rx(context_.model(), terms);
    c.saves_tx = c.tx.saves();
    c.saves_rx = c.rx.saves();
  }

  int64_t planned_saving(const OffloadTerms& registers) const {
    OffloadTerms terms = registers;
    for (BlockId b : piece_.blocks) {
      const OffloadTerms here = context_.accesses(first_of(b), last_of(b));
      int64_t weight = 1;
      for (const InnerLoop* inner : loops_around(b)) {
        weight =
            weighted(weight, inner->static_count.value_or(context_.planning_trips(inner->loop)));
      }
      terms.n_ld += here.n_ld * weight;
      terms.n_st += here.n_st * weight;
    }
    int64_t times = 1;  // executions of the whole piece, in loops around it
    for (uint32_t l = kernel_.blocks[piece_.entry].loop; l != kNone; l = kernel_.loops[l].parent) {
      if (find(l) == nullptr) times = weighted(times, context_.planning_trips(l));
    }
    const auto& model = context_.model();
    constexpr int64_t kLimit = int64_t{1} << 50;
    const int64_t once = -bw_total(model, terms).raw();
    int64_t saving = 0;
    if (__builtin_mul_overflow(once, times, &saving)) saving = once < 0 ? -kLimit : kLimit;
    return std::clamp(saving, -kLimit, kLimit);
  }

  void describe(OffloadCandidate& c) const {
    c.kind = kind_;
    c.entry = piece_.entry;
    c.first_instruction = piece_.first;
    c.last_instruction = piece_.last;
    c.blocks = piece_.blocks;
    c.resume_instruction = piece_.resume;
    c.resume_block = context_.definitions().block(piece_.resume);
    c.live_ins = piece_.live_ins;
    c.live_outs = piece_.live_outs;
    c.special_live_ins = piece_.specials;
    c.live_in_bytes =
        packed_bytes(kernel_, c.live_ins) + static_cast<uint32_t>(4 * c.special_live_ins.size());
    c.live_out_bytes = packed_bytes(kernel_, c.live_outs);
    if (kind_ != CandidateKind::kBlock)
      c.shared = context_.shared().use_of(piece_.blocks, piece_.entry, piece_.first);
    for (BlockId b : piece_.blocks) {
      const InstrId access = context_.next_access(first_of(b));
      if (access != kNone && access <= last_of(b))
        c.first_memory_instruction = std::min(c.first_memory_instruction, access);
    }
  }

  const OffloadContext& context_;
  const Kernel& kernel_;
  const CandidateKind kind_;
  const Piece& piece_;
  CandidateScope scope_;
  std::vector<InnerLoop> loops_;
};

}  // namespace

OffloadContext::OffloadContext(const Kernel& kernel, const OffloadModel& model)
    : kernel_(&kernel),
      model_(&model),
      definitions_(kernel),
      registers_(kernel),
      uses_shared_(uses_shared_memory(kernel)),
      shared_(kernel, model.shared) {
  for (InstrId i = 0; i < kernel.instructions.size(); ++i)
    limited_.push_back(limit_of(i).has_value());
  const size_t n = kernel.instructions.size();
  loads_.assign(n + 1, 0);
  stores_.assign(n + 1, 0);
  next_access_.assign(n + 1, kNone);
  for (size_t i = 0; i < n; ++i) {
    loads_[i + 1] = loads_[i] + is_counted_load(kernel.instructions[i]);
    stores_[i + 1] = stores_[i] + is_counted_store(kernel.instructions[i]);
  }
  for (size_t i = n; i-- > 0;) {
    const bool here = loads_[i + 1] != loads_[i] || stores_[i + 1] != stores_[i];
    next_access_[i] = here ? static_cast<InstrId>(i) : next_access_[i + 1];
  }
  for (uint32_t l = 0; l < kernel.loops.size(); ++l)
    trips_.push_back(loop_trips(kernel, definitions_, l));
  unrolled_ = unrolled_loops(kernel, definitions_, trips_);

  CandidateScope everything;
  everything.contains.assign(kernel.blocks.size(), true);
  everything.entry = 0;
  for (uint32_t l = 0; l < kernel.loops.size(); ++l) {
    int64_t trips = kPlanningTrips;
    const UnrolledLoop* unrolled = unrolled_of(l);
    if (unrolled != nullptr) {
      trips = l == unrolled->main ? std::max<int64_t>(1, kPlanningTrips / unrolled->unroll) : 1;
    } else if (const auto count = trips_at_entry(kernel, definitions_, everything, trips_[l], l)) {
      trips = static_trips(*count).value_or(kPlanningTrips);
    }
    planning_.push_back(trips);
  }
}

std::optional<RefusalReason> OffloadContext::limit_of(InstrId instruction) const {
  if (shared_.admits(instruction)) return std::nullopt;
  return forbidden(kernel_->instructions[instruction], uses_shared_);
}

const UnrolledLoop* OffloadContext::unrolled_of(uint32_t loop) const {
  for (const UnrolledLoop& unrolled : unrolled_) {
    if (unrolled.main == loop || unrolled.remainder == loop) return &unrolled;
  }
  return nullptr;
}

OffloadTerms OffloadContext::accesses(InstrId first, InstrId last) const {
  if (last + 1 <= first) return {};
  return {.n_ld = loads_[last + 1] - loads_[first], .n_st = stores_[last + 1] - stores_[first]};
}

OffloadTerms OffloadContext::accesses(const std::vector<BlockId>& blocks) const {
  OffloadTerms sum;
  for (BlockId b : blocks) {
    const Block& block = kernel_->blocks[b];
    if (block.count == 0) continue;
    const OffloadTerms here = accesses(block.first, block.first + block.count - 1);
    sum.n_ld += here.n_ld;
    sum.n_st += here.n_st;
  }
  return sum;
}

Evaluation evaluate_piece(const OffloadContext& context, CandidateKind kind, const Piece& piece) {
  return Evaluator(context, kind, piece).run();
}

}  // namespace nearwarp::compiler
