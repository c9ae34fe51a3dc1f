// Memory traces as text: one access per line, "R|W 0xADDRESS [CYCLE]".
#include "host/timing/dram/trace_file.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

#include "host/core/error_parts.h"
#include "host/timing/dram/channel_system.h"

namespace nearwarp::dram {
namespace {

constexpr uint64_t kMaxCycle = uint64_t{1} << 40;
constexpr size_t kMaxLine = 4095;             // letters
constexpr size_t kMaxAccesses = 100'000'000;  // they are kept in memory, 16 bytes each

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  const std::string_view blanks = " \t\r";
  for (size_t at = text.find_first_not_of(blanks); at != std::string_view::npos;
       at = text.find_first_not_of(blanks, at)) {
    const size_t end = std::min(text.find_first_of(blanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::optional<uint64_t> number(std::string_view digits, int base) {
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return {};
  return value;
}

class Reader {
 public:
  Reader(const std::string& path, const config::DramConfig& d)
      : path_(path),
        access_bytes_(d.organisation.access_bytes),
        bytes_(num_lines(d) * d.organisation.access_bytes) {}

  Trace read() {
    std::ifstream file(path_);
    if (!file)
      throw file_error(path_, fmt::format("cannot read '{}'", path_),
                       "is it a readable text file?");
    std::array<char, kMaxLine + 1> line = {};
    while (file.getline(line.data(), line.size())) {
      line_ += 1;
      const auto read = static_cast<size_t>(file.gcount());
      const std::string_view text(line.data(), file.eof() ? read : read - 1);  // line feed
      const std::vector<std::string_view> words = words_of(text.substr(0, text.find('#')));
      if (!words.empty()) take(words);
    }
    if (!file.eof() && !file.bad()) {
      line_ += 1;
      fail("a line without end", fmt::format("one has at most {} characters", kMaxLine));
    }
    if (file.bad()) throw file_error(path_, fmt::format("cannot read '{}' to its end", path_));
    if (trace_.accesses.empty()) {
      throw Error(fmt::format("'{}' has no access - write lines such as 'R 0x1f40'", path_));
    }
    return std::move(trace_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& right) const {
    throw Error(fmt::format("{} ({}:{}) - {}", what, path_, line_, right));
  }

  void take(const std::vector<std::string_view>& words) {
    if (words.size() < 2 || words.size() > 3) {
      fail(fmt::format("{} words", words.size()), "an access is 'R|W 0xADDRESS [CYCLE]'");
    }
    TrafficAccess access;
    if (words[0] != "R" && words[0] != "W") {
      fail(fmt::format("'{}' is no kind of access", words[0]), "R or W is");
    }
    access.write = words[0] == "W" ? 1 : 0;
    access.line = line_of(words[1]);
    const bool timed = words.size() == 3;
    if (trace_.accesses.empty()) trace_.timed = timed;
    if (timed != trace_.timed) {
      fail(timed ? "a cycle" : "no cycle", "either every access has a cycle or none");
    }
    if (timed) access.cycle = cycle_of(words[2]);
    if (trace_.accesses.size() == kMaxAccesses) {
      fail("too long", fmt::format("a trace has at most {} accesses; cut it", kMaxAccesses));
    }
    trace_.accesses.push_back(access);
  }

  LineAddr line_of(std::string_view word) const {
    const bool hex = word.starts_with("0x") || word.starts_with("0X");
    const std::optional<uint64_t> address = hex ? number(word.substr(2), 16) : std::nullopt;
    if (!address) fail(fmt::format("'{}' is no address", word), "write it as 0x1f40");
    if (*address >= bytes_) {
      fail(fmt::format("address {} is beyond the channel's 0x{:x} bytes", word, bytes_),
           "raise organisation.rows, or take the address modulo this size");
    }
    return static_cast<LineAddr>(*address / access_bytes_);
  }

  uint64_t cycle_of(std::string_view word) {
    const std::optional<uint64_t> cycle = number(word, 10);
    if (!cycle || *cycle > kMaxCycle) {
      fail(fmt::format("'{}' is no cycle", word), fmt::format("0 to {} is", kMaxCycle));
    }
    if (*cycle < last_cycle_) {
      fail(fmt::format("cycle {} after {}", *cycle, last_cycle_), "cycles must not go back");
    }
    last_cycle_ = *cycle;
    return *cycle;
  }

  const std::string& path_;
  uint64_t access_bytes_, bytes_;
  uint64_t line_ = 0, last_cycle_ = 0;
  Trace trace_;
};

}  // namespace

Trace read_trace(const std::string& path, const config::DramConfig& standard) {
  return Reader(path, standard).read();
}

}  // namespace nearwarp::dram
