// The accesses that the options of 'nearwarp dram' ask for.
#include "host/cli/programs/dram_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "host/config/nearest.h"
#include "host/core/error.h"

namespace nearwarp::cli {
namespace {

constexpr uint64_t kMillion = 1'000'000;

/// A share such as "0.66" as millionths, exactly, without floating point. `option`: what the
/// message calls it. Throws UsageError.
uint32_t millionths(const std::string& option, const std::string& text, uint64_t least) {
  const size_t dot = text.find('.');
  const std::string whole = text.substr(0, dot);
  std::string part = dot == std::string::npos ? "" : text.substr(dot + 1);
  const bool digits = text.find_first_not_of("0123456789.") == std::string::npos &&
                      part.find('.') == std::string::npos && whole.size() + part.size() > 0;
  if (digits && whole.size() <= 3 && part.size() <= 6) {
    part.resize(6, '0');
    const uint64_t value = (whole.empty() ? 0 : std::stoull(whole)) * kMillion + std::stoull(part);
    if (value >= least && value <= kMillion) return static_cast<uint32_t>(value);
  }
  throw UsageError(
      fmt::format("{} cannot be '{}' - a share from {} to 1 with at most six decimals "
                  "is needed",
                  option, text, least == 0 ? "0" : "0.000001"));
}

uint64_t number_of(const std::string& option, const std::string& text, uint64_t least,
                   uint64_t most) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw UsageError(fmt::format("{} cannot be '{}' - numbers from {} to {} are needed", option,
                                 text, least, most));
  }
  return value;
}

uint32_t outstanding_of(const std::string& option, const std::string& text) {
  return static_cast<uint32_t>(number_of(option, text, 1, MemoryStream::kMostOutstanding));
}

/// A number of bytes that is a multiple of the standard's access. Throws UsageError.
uint64_t bytes_of(const std::string& option, const std::string& text, uint64_t least,
                  const MemoryStandard& standard) {
  const uint64_t bytes = number_of(option, text, least, MemoryStream::kMostAddress);
  const uint64_t one = standard.access_bytes();
  if (bytes % one != 0) {
    throw UsageError(
        fmt::format("{} cannot be '{}' - a multiple of the {} bytes of an access of {} is needed",
                    option, bytes, one, standard.name()));
  }
  return bytes;
}

const std::vector<std::string>& patterns() {
  static const std::vector<std::string> all = {"stream", "random", "strided", "conflict", "mix"};
  return all;
}
/// The values of --traffic.
std::vector<std::string> kinds_of_traffic() {
  std::vector<std::string> kinds = patterns();
  kinds.emplace_back("trace");
  return kinds;
}
/// The stream that --traffic and its options describe, without --rate and --outstanding.
MemoryStream traffic_of(const CommandLine& line, const MemoryStandard& standard) {
  MemoryStream traffic;
  const std::string kind = line.text("traffic");
  const std::vector<std::string> kinds = kinds_of_traffic();
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    throw UsageError(fmt::format("unknown traffic '{}'{}", kind, config::suggestion(kind, kinds)));
  }
  const auto only_with = [&](const char* option, const char* wanted) {
    if (line.given(option) && kind != wanted) {
      throw UsageError(fmt::format("--{} is for --traffic {}", option, wanted));
    }
    if (!line.given(option) && kind == wanted) {
      throw UsageError(fmt::format("--traffic {} needs --{}", wanted, option));
    }
  };
  only_with("stride", "strided");
  only_with("trace", "trace");
  traffic.seed = line.number("seed", 0, ~uint64_t{0});
  traffic.pattern = kind;
  if (kind == "strided")
    traffic.stride_bytes = bytes_of("--stride", line.text("stride"), 1, standard);
  if (kind == "trace") {
    for (const char* option : {"reads", "rate"}) {
      if (line.given(option)) throw UsageError(fmt::format("--{} is not for traces", option));
    }
    traffic.trace = line.text("trace");
  }
  if (line.given("reads")) traffic.reads_ppm = millionths("--reads", line.text("reads"), 0);
  return traffic;
}

/// The stream of a --stream option, "PATTERN,KEY=VALUE,...". `seed`: its seed if it names none.
MemoryStream stream_of(const std::string& text, const MemoryStandard& standard, uint64_t seed) {
  const Words words = split_commas(text);
  const std::string where = fmt::format("--stream '{}'", text);
  if (words.empty() ||
      std::find(patterns().begin(), patterns().end(), words[0]) == patterns().end()) {
    throw UsageError(
        fmt::format("{} begins with none of {}{} - for example random,reads=0,rate=0.2", where,
                    fmt::join(patterns(), ", "),
                    words.empty() ? "" : config::suggestion(words[0], patterns())));
  }
  MemoryStream traffic;
  traffic.pattern = words[0];
  std::map<std::string, std::string> values;
  static const std::vector<std::string> kKeys = {"reads",  "rate",  "outstanding",
                                                 "stride", "start", "seed"};
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string key = words[i].substr(0, words[i].find('='));
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end() || key == words[i]) {
      throw UsageError(fmt::format("{} has '{}'{} - one of {}, each with = and a value, is right",
                                   where, words[i], config::suggestion(key, kKeys),
                                   fmt::join(kKeys, ", ")));
    }
    if (!values.emplace(key, words[i].substr(key.size() + 1)).second)
      throw UsageError(fmt::format("{} says {} twice - once is right", where, key));
  }
  const auto value = [&](const char* key) -> const std::string* {
    const auto at = values.find(key);
    return at == values.end() ? nullptr : &at->second;
  };
  const auto name = [&](const char* key) { return fmt::format("{}: {}", where, key); };
  if (value("rate") != nullptr && value("outstanding") != nullptr)
    throw UsageError(where + " has rate and outstanding, which exclude each other - give one");
  if ((value("stride") != nullptr) != (words[0] == "strided"))
    throw UsageError(where + " - stride belongs to strided, which needs it");
  if (value("start") != nullptr && (words[0] == "random" || words[0] == "conflict"))
    throw UsageError(where + " - start is for stream, strided and mix");
  if (const auto* v = value("reads")) traffic.reads_ppm = millionths(name("reads"), *v, 0);
  if (const auto* v = value("rate")) traffic.rate_ppm = millionths(name("rate"), *v, 1);
  if (const auto* v = value("outstanding"))
    traffic.outstanding = outstanding_of(name("outstanding"), *v);
  if (const auto* v = value("stride"))
    traffic.stride_bytes = bytes_of(name("stride"), *v, 1, standard);
  if (const auto* v = value("start"))
    traffic.start_bytes = bytes_of(name("start"), *v, 0, standard);
  traffic.seed = seed;
  if (const auto* v = value("seed")) traffic.seed = number_of(name("seed"), *v, 0, ~uint64_t{0});
  return traffic;
}

std::vector<MemoryStream> streams_of(const CommandLine& line, const MemoryStandard& standard) {
  for (const char* option : {"traffic", "stride", "trace", "reads", "rate", "outstanding"}) {
    if (line.given(option))
      throw UsageError(fmt::format(
          "--{} is for one stream - with --stream say it there, as in random,rate=0.2", option));
  }
  const Words texts = line.texts("stream");
  if (texts.size() > MemoryStream::kMostStreams) {
    throw UsageError(fmt::format("--stream is given {} times - at most {} are right", texts.size(),
                                 MemoryStream::kMostStreams));
  }
  const uint64_t seed = line.number("seed", 0, ~uint64_t{0});
  std::vector<MemoryStream> streams;
  // Each stream gets another seed, so that streams draw different numbers.
  for (const std::string& text : texts)
    streams.push_back(stream_of(text, standard, seed + streams.size()));
  return streams;
}

}  // namespace

void declare_load(CommandLine& line) {
  line.value("traffic",
             "stream, random, strided, conflict (another row of one bank each time), "
             "mix (a stream with every third access a write) or trace",
             "KIND", "stream");
  line.offer("traffic", kinds_of_traffic());
  line.value("stride", "for strided: distance of accesses in bytes", "BYTES");
  line.value("trace", "accesses, a line each: R|W 0xADDRESS [CYCLE]", "FILE");
  line.value("reads", "share of reads, 0 to 1 (default: 1, of mix 2/3)", "SHARE");
  line.value("rate",
             "accesses at random times, this share of the peak bandwidth; several with "
             "commas",
             "SHARES");
  line.value("outstanding",
             "a read for every read that comes back, so many under way; several "
             "with commas (without this and --rate: as fast as possible)",
             "NUMBERS");
  line.list("stream",
            "one of several streams at once, instead of these: KIND[,reads=SHARE][,rate=SHARE or "
            ",outstanding=N][,stride=BYTES][,start=BYTES][,seed=N]",
            "STREAM");
}

std::vector<NamedLoad> loads_of(const CommandLine& line, const MemoryStandard& standard) {
  if (line.given("stream")) return {{streams_of(line, standard), ""}};
  MemoryStream traffic = traffic_of(line, standard);
  if (line.given("rate") && line.given("outstanding")) {
    throw UsageError("--rate and --outstanding exclude each other - give one of them");
  }
  const Words rates = split_commas(line.text("rate"));
  const Words windows = split_commas(line.text("outstanding"));
  if (line.given("rate") && rates.empty()) throw UsageError("--rate names no share");
  if (line.given("outstanding") && windows.empty())
    throw UsageError("--outstanding names no number");
  std::vector<NamedLoad> loads;
  for (const std::string& rate : rates) {
    traffic.rate_ppm = millionths("--rate", rate, 1);
    loads.push_back({{traffic}, "rate " + rate});
  }
  for (const std::string& window : windows) {
    traffic.outstanding = outstanding_of("--outstanding", window);
    loads.push_back({{traffic}, window + " reads"});
  }
  if (loads.empty()) loads.push_back({{traffic}, ""});
  return loads;
}

}  // namespace nearwarp::cli
