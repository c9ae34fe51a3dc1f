// How many thread blocks and memory stacks share a program's pages, for people and as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace nearwarp::coda {

struct PageSharing {
  std::string version, workload, size, machine;
  uint64_t page_bytes = 0;
  uint32_t stacks = 0;
  uint64_t pages = 0;  ///< that the program's kernels touch
  /// Pages by how many thread blocks touch them; blocks are told apart by their numbers, whatever
  /// the launch.
  std::map<uint64_t, uint64_t> by_blocks;
  /// Pages by how many stacks do, blocks being where Eq. (1) has them.
  std::map<uint32_t, uint64_t> by_stacks;

  /// Shares of the pages that one block, or one stack, has for itself; 0 without pages.
  double of_one_block() const { return share(by_blocks); }
  double of_one_stack() const { return share(by_stacks); }
  /// The class of CODA, section 5.2.
  const char* category() const;

 private:
  template <class Map>
  double share(const Map& by) const {
    const auto one = by.find(1);
    return one == by.end() ? 0 : static_cast<double>(one->second) / static_cast<double>(pages);
  }
};

std::string format_page_sharing(const PageSharing& sharing, size_t width = 80);
/// Schema nearwarp.sharing/1, documented in docs/json.md.
std::string page_sharing_json(const PageSharing& sharing);

}  // namespace nearwarp::coda
