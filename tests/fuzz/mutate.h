// Damages inputs at random, the same way for the same seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace nearwarp::fuzz {

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  /// One of the inputs with up to sixteen changes.
  std::string next(const std::vector<std::string>& corpus) {
    std::string text = corpus[below(corpus.size())];
    for (size_t n = 1 + below(1 + below(16)); n > 0; --n) change(text, corpus);
    return text;
  }

 private:
  size_t below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(random_() % n); }

  void change(std::string& text, const std::vector<std::string>& corpus) {
    static constexpr std::string_view kWords[] = {"0",
                                                  "-1",
                                                  "4294967295",
                                                  "18446744073709551616",
                                                  "1e400",
                                                  "nan",
                                                  "\0\0\0\0",
                                                  "\xff\xff\xff\xff",
                                                  "{",
                                                  "}",
                                                  "[",
                                                  "]",
                                                  ";",
                                                  ",",
                                                  "\"",
                                                  "\n",
                                                  "@",
                                                  "%",
                                                  "0x7f2d00000000"};
    const size_t at = below(text.size() + 1), length = 1 + below(1 + below(64));
    switch (below(7)) {
      case 0:  // flip a bit
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:  // replace a byte
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:  // repeat a piece
        text.insert(at, text.substr(at, length));
        break;
      case 4:
        text.insert(at, kWords[below(std::size(kWords))]);
        break;
      case 5:  // put a word in place of a piece
        text.replace(at, length, kWords[below(std::size(kWords))]);
        break;
      default: {  // take a piece of another input
        const std::string& other = corpus[below(corpus.size())];
        text.insert(at, other.substr(below(other.size() + 1), length * 4));
      }
    }
    if (below(64) == 0) text.resize(below(text.size() + 1));  // cut off
  }

  std::mt19937_64 random_;
};

}  // namespace nearwarp::fuzz
