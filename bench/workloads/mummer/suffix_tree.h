// Suffix trees of strings of four symbols, for the matching of MUMmerGPU, and the matches on the
// CPU.
#pragma once

#include <cstdint>
#include <vector>

namespace nearwarp::workloads {

/// A node and the edge that leads to it.
struct SuffixNode {
  int32_t child[4];  ///< by the edge's first symbol; kNoSuffixNode if there is none
  int32_t start;     ///< begin of the edge's text
  int32_t end;       ///< end of the edge's text, exclusive
  int32_t link;      ///< the suffix link: node of the text without its first symbol
  int32_t parent;
};

inline constexpr int32_t kSuffixRoot = 0, kNoSuffixNode = -1;

/// The tree of all substrings of `text` (symbols 0 to 3) by E. Ukkonen's algorithm (1995).
std::vector<SuffixNode> suffix_tree(const std::vector<uint8_t>& text);

/// For each place in `query` the length of the longest part from there on that is anywhere in
/// `text`: by binary search in the sorted suffixes, without a tree. `suffixes` is from
/// sorted_suffixes().
std::vector<int32_t> longest_matches(const std::vector<uint8_t>& text,
                                     const std::vector<int32_t>& suffixes, const uint8_t* query,
                                     int length);
/// Positions in `text`, in the order of the suffixes that begin there.
std::vector<int32_t> sorted_suffixes(const std::vector<uint8_t>& text);

}  // namespace nearwarp::workloads
