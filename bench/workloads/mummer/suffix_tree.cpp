#include "bench/workloads/mummer/suffix_tree.h"

#include <algorithm>

namespace nearwarp::workloads {
namespace {

SuffixNode new_node(int32_t start, int32_t end, int32_t parent) {
  return {{kNoSuffixNode, kNoSuffixNode, kNoSuffixNode, kNoSuffixNode},
          start,
          end,
          kSuffixRoot,
          parent};
}

}  // namespace

std::vector<SuffixNode> suffix_tree(const std::vector<uint8_t>& text) {
  const auto length = static_cast<int32_t>(text.size());
  std::vector<SuffixNode> nodes{new_node(0, 0, kSuffixRoot)};
  // The active point: `matched` symbols from text[edge] on below `active`.
  int32_t active = kSuffixRoot, edge = 0, matched = 0, remaining = 0;
  for (int32_t i = 0; i < length; ++i) {
    ++remaining;
    int32_t unlinked = kSuffixRoot;  // inner node made last, whose link is not known yet
    const auto link_to = [&](int32_t node) {
      if (unlinked != kSuffixRoot) nodes[unlinked].link = node;
      unlinked = node;
    };
    while (remaining > 0) {
      if (matched == 0) edge = i;
      const int32_t next = nodes[active].child[text[edge]];
      if (next == kNoSuffixNode) {
        nodes[active].child[text[edge]] = static_cast<int32_t>(nodes.size());
        nodes.push_back(new_node(i, length, active));
        link_to(active);
      } else {
        const int32_t on_edge = std::min(nodes[next].end, i + 1) - nodes[next].start;
        if (matched >= on_edge) {  // further down
          edge += on_edge;
          matched -= on_edge;
          active = next;
          continue;
        }
        if (text[nodes[next].start + matched] == text[i]) {  // is there already
          ++matched;
          link_to(active);
          break;
        }
        const auto split = static_cast<int32_t>(nodes.size());
        nodes.push_back(new_node(nodes[next].start, nodes[next].start + matched, active));
        nodes[active].child[text[edge]] = split;
        nodes[next].start += matched;
        nodes[next].parent = split;
        nodes[split].child[text[nodes[next].start]] = next;
        nodes[split].child[text[i]] = split + 1;
        nodes.push_back(new_node(i, length, split));
        link_to(split);
      }
      --remaining;
      if (active == kSuffixRoot && matched > 0) {
        --matched;
        edge = i - remaining + 1;
      } else if (active != kSuffixRoot) {
        active = nodes[active].link;
      }
    }
  }
  return nodes;
}

std::vector<int32_t> sorted_suffixes(const std::vector<uint8_t>& text) {
  std::vector<int32_t> suffixes(text.size());
  for (size_t i = 0; i < suffixes.size(); ++i) suffixes[i] = static_cast<int32_t>(i);
  std::sort(suffixes.begin(), suffixes.end(), [&](int32_t a, int32_t b) {
    return std::lexicographical_compare(text.begin() + a, text.end(), text.begin() + b, text.end());
  });
  return suffixes;
}

std::vector<int32_t> longest_matches(const std::vector<uint8_t>& text,
                                     const std::vector<int32_t>& suffixes, const uint8_t* query,
                                     int length) {
  std::vector<int32_t> lengths;
  for (int start = 0; start < length; ++start) {
    const uint8_t* const begin = query + start;
    const uint8_t* const end = query + length;
    const auto at = std::lower_bound(
        suffixes.begin(), suffixes.end(), begin, [&](int32_t suffix, const uint8_t* from) {
          return std::lexicographical_compare(text.begin() + suffix, text.end(), from, end);
        });
    // The longest is with a neighbour of the place where the query's part would be.
    int64_t longest = 0;
    const auto try_suffix = [&](int32_t suffix) {
      longest = std::max<int64_t>(
          longest, std::mismatch(begin, end, text.begin() + suffix, text.end()).first - begin);
    };
    if (at != suffixes.end()) try_suffix(*at);
    if (at != suffixes.begin()) try_suffix(*(at - 1));
    lengths.push_back(static_cast<int32_t>(longest));
  }
  return lengths;
}

}  // namespace nearwarp::workloads
