// Parses annotations of shared arrays.
#include "host/mechanisms/tuning/shared/annotations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "host/core/demangle.h"
#include "host/core/error.h"

namespace nearwarp::compiler {

using ptx::Space;

// The array _ZZ10hist_countE6counts has the names "counts" and "hist_count::counts", for instance.
bool is_named(const Symbol& symbol, const std::string& name) {
  if (symbol.name == name) return true;
  const std::string readable = demangled(symbol.name);
  if (readable == name) return true;
  return readable.size() > name.size() + 2 && readable.ends_with("::" + name);
}

namespace {

std::optional<SharedAnnotation> parse_annotation(std::string_view text) {
  const size_t last = text.rfind(':');
  if (last == std::string_view::npos || last == 0) return std::nullopt;
  const size_t middle = text.rfind(':', last - 1);
  if (middle == std::string_view::npos || middle == 0) return std::nullopt;
  const std::string_view kind = text.substr(middle + 1, last - middle - 1);
  const std::string_view bytes = text.substr(last + 1);
  SharedAnnotation a;
  a.array = text.substr(0, middle);
  if (kind == "accumulator") a.kind = SharedKind::kAccumulator;
  if (kind == "table") a.kind = SharedKind::kTable;
  const char* end = bytes.data() + bytes.size();
  const auto [read, error] = std::from_chars(bytes.data(), end, a.bytes);
  if (a.kind == SharedKind::kNone || error != std::errc() || read != end || a.bytes == 0)
    return std::nullopt;
  return a;
}

}  // namespace

std::vector<SharedAnnotation> parse_annotations(std::string_view text, const std::string& where) {
  std::vector<SharedAnnotation> result;
  for (size_t begin = 0; !text.empty() && begin <= text.size();) {
    const size_t end = std::min(text.find('+', begin), text.size());
    const auto annotation = parse_annotation(text.substr(begin, end - begin));
    if (!annotation)
      throw Error(
          fmt::format("{}: '{}' is no annotation of a shared array - right is "
                      "NAME:accumulator:BYTES or NAME:table:BYTES, several joined by '+'",
                      where, text.substr(begin, end - begin)));
    result.push_back(*annotation);
    begin = end + 1;
  }
  return result;
}

std::vector<std::string> shared_arrays_of(const Kernel& kernel) {
  std::vector<std::string> names;
  for (const Symbol& s : kernel.symbols)
    if (s.space == Space::kShared) names.push_back(demangled(s.name));
  return names;
}

bool has_shared_array(const Kernel& kernel, const std::string& name) {
  return std::any_of(kernel.symbols.begin(), kernel.symbols.end(), [&](const Symbol& s) {
    return s.space == Space::kShared && is_named(s, name);
  });
}

}  // namespace nearwarp::compiler
