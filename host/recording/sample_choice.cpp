// Chooses the units of each stratum that are simulated: at random, and of exact repetitions those
// beside others that are.
#include "host/recording/sample_choice.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace nearwarp::runtime {
namespace {

/// A hash, whose values look random (SplitMix64; Steele, Lea and Flood, OOPSLA 2014).
uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// Launches that are simulated so far, and how near to them a unit is.
class Covered {
 public:
  explicit Covered(size_t launches) : is_(launches) {}

  /// A unit's distance from what is simulated so far: first by the launches of its lead-in that are
  /// missing there, then by its place. Its own size does not count, or small units would be chosen.
  uint32_t apart(const Unit& u) const {
    uint32_t missing = 0, distance = 0;
    for (uint32_t i = u.begin; i < u.first; ++i) missing += is_[i] ? 0 : 1;
    while (distance < kNear && !(u.first >= distance && is_[u.first - distance]) &&
           !(u.first + distance < is_.size() && is_[u.first + distance]))
      ++distance;
    return missing * (kNear + 1) + distance;
  }
  void add(const Unit& u) { std::fill(is_.begin() + u.begin, is_.begin() + u.end, true); }

 private:
  /// Launches that are farther apart are not near, whatever lies between.
  static constexpr uint32_t kNear = 16;

  std::vector<bool> is_;
};

}  // namespace

bool follows(const Unit& unit, uint32_t end, uint32_t together) {
  return !unit.blocks.has_value() && end >= std::max(unit.begin, together + 1);
}

SampleChoice::SampleChoice(const std::vector<Unit>& units, const std::vector<Stratum>& strata,
                           const std::vector<uint32_t>& alike, uint32_t together, uint64_t seed)
    : units_(units),
      stratum_of_(units.size()),
      launches_(alike.size()),
      together_(together),
      seed_(mixed(seed)) {
  std::map<std::vector<uint32_t>, uint32_t> kinds;
  for (const Unit& u : units) {
    std::vector<uint32_t> repeated(alike.begin() + u.begin, alike.begin() + u.end);
    repeated.push_back(u.first - u.begin);
    kind_.push_back(
        kinds.try_emplace(std::move(repeated), static_cast<uint32_t>(kinds.size())).first->second);
  }
  for (uint32_t i = 0; i < strata.size(); ++i) {
    const Members& order = orders_.emplace_back(strata[i].members);
    // Units at the program's beginning have fewer before them, and lie between no others.
    const auto differs = [&](uint32_t unit) {
      const Unit &one = units[unit], &last = units[order.back()];
      return kind_[unit] != kind_[order.back()] && one.first - one.begin == last.first - last.begin;
    };
    same_.push_back(std::ranges::none_of(order, differs));
    for (const uint32_t unit : order) stratum_of_[unit] = i;
  }
}

std::vector<uint32_t> SampleChoice::drawn(uint32_t stratum, uint64_t n) const {
  const uint64_t count = orders_[stratum].size();
  std::vector<uint32_t> drawn;
  uint32_t left = 0;  // the earlier unit that may still be drawn
  uint64_t of_left = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t random = mixed(seed_ ^ uint64_t{stratum} << 32 ^ i), sum = of_left + n;
    if (sum < count) {
      if (random % sum >= of_left) left = i;
      of_left = sum;
      continue;
    }
    const bool is_left = of_left != 0 && random % (2 * count - sum) < count - n;
    drawn.push_back(is_left ? left : i);
    if (is_left) left = i;
    of_left = sum - count;
  }
  return drawn;
}

std::vector<Members> SampleChoice::of(const std::vector<uint64_t>& numbers) const {
  std::vector<Members> all(orders_.size());
  std::vector<uint32_t> by_number(orders_.size());
  std::iota(by_number.begin(), by_number.end(), 0u);
  std::stable_sort(by_number.begin(), by_number.end(),
                   [&](uint32_t a, uint32_t b) { return numbers[a] > numbers[b]; });
  Covered covered(launches_);
  for (const uint32_t stratum : by_number) {
    const uint64_t n = numbers[stratum];
    const Members& order = orders_[stratum];
    const uint64_t count = order.size();
    const std::vector<uint32_t> at = drawn(stratum, n);
    std::vector<bool> taken(count);
    for (const uint32_t i : at) taken[i] = true;
    for (const uint32_t i : at) {
      uint32_t best = i;
      if (n < count && !units_[order[i]].blocks.has_value()) {
        const uint64_t nth = i * n / count, begin = (nth * count + n - 1) / n,
                       end = ((nth + 1) * count + n - 1) / n;
        uint32_t least = covered.apart(units_[order[i]]);
        for (uint64_t k = 1; k < end - begin; ++k) {
          const auto other = static_cast<uint32_t>(begin + (i - begin + k) % (end - begin));
          if (taken[other] || kind_[order[other]] != kind_[order[i]]) continue;
          const uint32_t apart = covered.apart(units_[order[other]]);
          if (apart >= least) continue;
          least = apart;
          best = other;
        }
      }
      taken[i] = false;
      taken[best] = true;
      all[stratum].push_back(order[best]);
    }
    // Units that stand for themselves, mostly at the program's beginning, attract no others: their
    // neighbours would be no random choice.
    if (n == count) continue;
    for (const uint32_t unit : all[stratum])
      if (!units_[unit].blocks.has_value()) covered.add(units_[unit]);
  }
  add_between(all);
  return all;
}

void SampleChoice::add_between(std::vector<Members>& chosen) const {
  Members in_order;
  for (const Members& members : chosen)
    in_order.insert(in_order.end(), members.begin(), members.end());
  std::sort(in_order.begin(), in_order.end());
  for (size_t i = 1; i < in_order.size(); ++i) {
    const Unit &last = units_[in_order[i - 1]], &next = units_[in_order[i]];
    if (last.blocks.has_value() || !follows(next, last.end, together_)) continue;
    for (uint32_t between = in_order[i - 1] + 1; between < in_order[i]; ++between)
      if (same_[stratum_of_[between]]) chosen[stratum_of_[between]].push_back(between);
  }
}

}  // namespace nearwarp::runtime
