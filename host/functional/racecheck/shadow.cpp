// Shadow memory.
#include "host/functional/racecheck/shadow.h"

#include <algorithm>

namespace nearwarp::racecheck {

void Shadow::make_room(uint64_t bytes) {
  while (bytes_ + bytes > most_bytes_ && order_.size() > 1) {
    const auto oldest = pages_.find(order_.front());
    order_.pop_front();
    bytes_ -= oldest->second.size();
    forgotten_ += oldest->second.generation == generation_;
    pages_.erase(oldest);
  }
}

Shadow::Page& Shadow::find(uint64_t number) {
  auto it = pages_.find(number);
  if (it == pages_.end()) {
    make_room(kPageBytes / 4 * sizeof(Cell));
    it = pages_.try_emplace(number).first;
    it->second.cells = std::make_unique<Cell[]>(kPageBytes / 4);
    bytes_ += it->second.size();
    order_.push_back(number);
  } else if (it->second.generation != generation_) {
    std::fill_n(it->second.cells.get(), kPageBytes / (it->second.bytewise ? 1 : 4), Cell{});
  }
  it->second.generation = generation_;
  return it->second;
}

void Shadow::split(Page& page) {
  auto cells = std::make_unique<Cell[]>(kPageBytes);
  for (uint64_t i = 0; i < kPageBytes; ++i) cells[i] = page.cells[i / 4];
  bytes_ -= page.size();
  page.cells = std::move(cells);
  page.bytewise = true;
  bytes_ += page.size();
}

void Shadow::forget(uint64_t address, uint64_t bytes) {
  const uint64_t end = address + bytes;
  while (address < end) {
    const uint64_t next = std::min(end, (address / kPageBytes + 1) * kPageBytes);
    const auto it = pages_.find(address / kPageBytes);
    if (it != pages_.end() && it->second.generation == generation_) {
      const uint64_t step = it->second.bytewise ? 1 : 4;
      for (uint64_t a = address; a < next; a += step)
        it->second.cells[a % kPageBytes / step] = Cell{};
    }
    address = next;
  }
}

}  // namespace nearwarp::racecheck
