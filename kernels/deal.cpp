// Deals a system's components out to the warps of a team.
#include "kernels/deal.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "kernels/team.h"

namespace nearwarp::kernels {

namespace {

/// The work of a warp in a busy window. Its lanes step components of one kind at the same time;
/// what they do not do together, since each has its own way through the code, comes one by one.
class Load {
 public:
  uint32_t with(const Component& c, uint32_t weight) const { return sum_ + part(c, weight); }
  void add(const Component& c, uint32_t weight) {
    sum_ = with(c, weight);
    if (c.cluster == 0) kinds_ |= 1u << static_cast<uint32_t>(c.kind);
  }

 private:
  /// Estimated: a quarter of a step is not done together with others.
  static constexpr uint32_t kTogether = 4;
  uint32_t part(const Component& c, uint32_t weight) const {
    const bool joins = c.cluster == 0 && (kinds_ >> static_cast<uint32_t>(c.kind) & 1) != 0;
    return joins ? (weight + kTogether - 1) / kTogether : weight;
  }

  uint32_t sum_ = 0, kinds_ = 0;  ///< kinds as bits
};

}  // namespace

Deal deal_components(std::span<const Component> components, uint32_t warps) {
  // A piece is dealt out as one: a component, or a cluster.
  struct Piece {
    std::vector<uint32_t> members;
    uint32_t rank = 0, weight = 0;
  };
  std::vector<Piece> pieces;
  std::unordered_map<uint16_t, size_t> piece_of;
  for (uint32_t i = 0; i < components.size(); ++i) {
    const Component& c = components[i];
    const size_t at = c.cluster == 0 ? pieces.size()
                                     : piece_of.try_emplace(c.cluster, pieces.size()).first->second;
    if (at == pieces.size()) pieces.emplace_back();
    pieces[at].members.push_back(i);
    pieces[at].weight += ProductFamily::weight(c);
    // The front end first, so that it goes to warp 0; then the heaviest first.
    pieces[at].rank = c.kind == ComponentKind::kFrontEnd ? ~0u : pieces[at].weight;
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.rank > b.rank; });
  std::vector<std::vector<const Piece*>> share(warps);
  std::vector<Load> load(warps);
  for (const Piece& piece : pieces) {
    const Component& c = components[piece.members[0]];
    const auto with = [&](const Load& l) { return l.with(c, piece.weight); };
    const auto least = std::ranges::min_element(load, {}, with) - load.begin();
    share[least].push_back(&piece);
    load[least].add(c, piece.weight);
  }
  Deal deal;
  deal.begin.push_back(0);
  const auto take = [&](const Piece& piece) {
    deal.order.insert(deal.order.end(), piece.members.begin(), piece.members.end());
  };
  const auto end_group = [&] {
    deal.group_end.resize(deal.order.size(), static_cast<uint32_t>(deal.order.size()));
  };
  const auto in_cluster = [&](const Piece* p) { return components[p->members[0]].cluster != 0; };
  for (std::vector<const Piece*>& s : share) {
    std::ranges::stable_sort(
        s, {}, [&](const Piece* piece) { return phase_of(components[piece->members[0]].kind); });
    for (const Piece* piece : s)
      if (!in_cluster(piece)) take(*piece);
    end_group();
    for (const Piece* piece : s) {
      if (!in_cluster(piece)) continue;
      take(*piece);
      end_group();
    }
    deal.begin.push_back(static_cast<uint32_t>(deal.order.size()));
  }
  return deal;
}

void share_states(Deal& deal, std::span<const Component> components, uint32_t warps_per_block,
                  uint32_t bytes) {
  constexpr uint32_t kAlignment = 16;
  deal.shared_at.assign(deal.order.size(), kNotShared);
  const auto warps = static_cast<uint32_t>(deal.begin.size() - 1);
  for (uint32_t first = 0; first < warps; first += warps_per_block) {
    const uint32_t begin = deal.begin[first];
    const uint32_t end = deal.begin[std::min(warps, first + warps_per_block)];
    std::vector<uint32_t> by_size(end - begin);
    std::iota(by_size.begin(), by_size.end(), begin);
    const auto size = [&](uint32_t i) {
      return ProductFamily::state_bytes(components[deal.order[i]].kind);
    };
    std::stable_sort(by_size.begin(), by_size.end(),
                     [&](uint32_t a, uint32_t b) { return size(a) < size(b); });
    uint32_t used = 0;
    for (const uint32_t i : by_size) {
      const uint32_t needed = (size(i) + kAlignment - 1) / kAlignment * kAlignment;
      if (used + needed > bytes) break;
      deal.shared_at[i] = used;
      used += needed;
    }
  }
}

}  // namespace nearwarp::kernels
