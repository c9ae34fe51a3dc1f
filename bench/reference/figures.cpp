#include "bench/reference/figures.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <sstream>

#include "host/core/error.h"

namespace nearwarp::reference {
namespace {

constexpr size_t kColumns = 13;

class Line {
 public:
  Line(const std::string& path, int number, const std::string& text)
      : where_(fmt::format("{}:{}", path, number)) {
    std::istringstream in(text);
    for (std::string cell; std::getline(in, cell, '\t');) cells_.push_back(cell);
    if (cells_.size() != kColumns)
      throw Error(fmt::format("{} cells ({}) - a line has {}", cells_.size(), where_, kColumns));
  }

  Figures parse() const {
    Figures f;
    f.config = cells_[0];
    f.run = cells_[1];
    f.program = cells_[2];
    std::istringstream words(cells_[3]);
    for (std::string word; words >> word;) f.arguments.push_back(number<int>(word));
    size_t i = 4;
    for (uint64_t* field :
         {&f.cycles, &f.warp_instructions, &f.l1_accesses, &f.l1_misses, &f.l2_accesses,
          &f.l2_misses, &f.dram_read_bursts, &f.dram_write_bursts, &f.dram_activations})
      *field = number<uint64_t>(cells_[i++]);
    return f;
  }

 private:
  template <class T>
  T number(const std::string& text) const {
    T value{};
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || at != end)
      throw Error(fmt::format("'{}' is no number ({})", text, where_));
    return value;
  }

  std::string where_;
  std::vector<std::string> cells_;
};

}  // namespace

std::vector<Figures> read_figures(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error("cannot open " + path + " - it lies in the source tree");
  std::vector<Figures> all;
  int number = 0;
  bool head = true;  // the names of the columns
  for (std::string text; std::getline(file, text);) {
    ++number;
    if (text.empty() || text.front() == '#') continue;
    if (!head) all.push_back(Line(path, number, text).parse());
    head = false;
  }
  return all;
}

}  // namespace nearwarp::reference
