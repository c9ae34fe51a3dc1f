// Chooses who counts a kernel's registers per thread: this program, or ptxas.
#include "host/functional/cudart/code/register_choice.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "host/core/error.h"

namespace nearwarp::cudart {

namespace {

/// Is `text` an architecture: "sm_" and a number, and perhaps a letter for features that only this
/// architecture (a) or its family (f) has?
bool is_architecture(std::string_view text) {
  if (!text.starts_with("sm_")) return false;
  text.remove_prefix(3);
  if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) text.remove_suffix(1);
  return (text.size() == 2 || text.size() == 3) &&
         text.find_first_not_of("0123456789") == text.npos;
}

}  // namespace

RegisterChoice parse_registers(const std::string& text) {
  constexpr std::string_view kPtxasFor = "ptxas:";
  using From = RegisterChoice::From;
  if (text.empty() || text == "auto") return {From::kAuto, {}};
  if (text == "own") return {From::kOwn, {}};
  if (text == "ptxas") return {From::kPtxas, {}};
  if (text.starts_with(kPtxasFor) &&
      is_architecture(std::string_view(text).substr(kPtxasFor.size())))
    return {From::kPtxas, text.substr(kPtxasFor.size())};
  throw Error(
      fmt::format("registers cannot be counted by '{}' - 'auto', 'own', 'ptxas', or 'ptxas:sm_75' "
                  "for an architecture",
                  text));
}

std::string find_ptxas() {
  const char* path = std::getenv("PATH");
  const std::string folders = std::string(path == nullptr ? "" : path) + ":/usr/local/cuda/bin";
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string file = folders.substr(begin, end - begin) + "/ptxas";
    if (end > begin && access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return "";
}

}  // namespace nearwarp::cudart
