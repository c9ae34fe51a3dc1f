// Matching of short reads of DNA with a reference after MUMmerGPU (M. Schatz et al., 2007), as in
// Rodinia: a thread per read, which for each of its symbols follows the suffix tree of the reference
// as far as it can, and takes the suffix link for the next symbol.

struct SuffixNode {  // in suffix_tree.h
  int child[4];
  int start, end, link, parent;
};

// Longest match from each symbol of each read on: matches[read][symbol].
extern "C" __global__ void mummer_match(const SuffixNode* nodes, const unsigned char* reference,
                                        const unsigned char* reads, int* matches, int num_reads,
                                        int read_length) {
  const int read = blockIdx.x * blockDim.x + threadIdx.x;
  if (read >= num_reads) return;
  const unsigned char* symbols = reads + static_cast<size_t>(read) * read_length;
  int* out = matches + static_cast<size_t>(read) * read_length;
  int node = 0;   // the last node passed
  int depth = 0;  // symbols from the root to it
  int length = 0;  // symbols matched in all
  for (int start = 0; start < read_length; ++start) {
    // Pass the symbols that are known to match, without looking at them again.
    int next = -1, edge_begin = 0, edge_length = 0;
    while (depth < length) {
      next = nodes[node].child[symbols[start + depth]];
      edge_begin = nodes[next].start;
      edge_length = nodes[next].end - edge_begin;
      if (depth + edge_length > length) break;
      node = next;
      depth += edge_length;
    }
    // On from there.
    while (start + length < read_length) {
      const int symbol = symbols[start + length];
      if (depth == length) {
        next = nodes[node].child[symbol];
        if (next < 0) break;
        edge_begin = nodes[next].start;
        edge_length = nodes[next].end - edge_begin;
      } else if (reference[edge_begin + length - depth] != symbol) {
        break;
      }
      ++length;
      if (length == depth + edge_length) {
        node = next;
        depth = length;
      }
    }
    out[start] = length;
    // Go to the match without its first symbol; a leaf has no link, but its parent has one.
    if (node != 0 && nodes[node].child[0] < 0 && nodes[node].child[1] < 0 &&
        nodes[node].child[2] < 0 && nodes[node].child[3] < 0) {
      depth -= nodes[node].end - nodes[node].start;
      node = nodes[node].parent;
    }
    if (node != 0) {
      node = nodes[node].link;
      --depth;
    }
    if (length > 0) --length;
  }
}
