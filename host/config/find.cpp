// Searches the folders of configuration files.
#include "host/config/find.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <set>

#include "host/config/config.h"
#include "host/config/nearest.h"
#include "host/config/overrides.h"
#include "host/core/error_parts.h"

namespace nearwarp::config {
namespace {

namespace fs = std::filesystem;

/// The name of one configuration of a kind, for messages: "machine" for "machines".
std::string_view singular(std::string_view kind) {
  if (kind == "dram") return "DRAM standard";
  if (kind == "area") return "area file";
  if (kind == "machines") return "machine";
  if (kind == "experiments") return "experiment";
  return kind == "policies" ? "policy" : "energy model";
}

constexpr const char* kInstalled = "share/nearwarp/configs";

/// The configurations of the installed tree that this code's library belongs to, in the library's
/// folder or one above it (lib, lib/x86_64-linux-gnu). Empty if there are none.
fs::path beside_library() {
  constexpr int kFoldersUp = 4;
  Dl_info here = {};
  if (dladdr(reinterpret_cast<const void*>(&beside_library), &here) == 0 ||
      here.dli_fname == nullptr)
    return {};
  std::error_code failed;
  fs::path folder = fs::canonical(here.dli_fname, failed).parent_path();
  if (failed) return {};
  for (int i = 0; i < kFoldersUp; ++i, folder = folder.parent_path())
    if (fs::is_directory(folder / kInstalled, failed)) return folder / kInstalled;
  return {};
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

}  // namespace

std::vector<fs::path> config_folders(std::string_view kind) {
  std::vector<fs::path> roots;
  if (const char* variable = std::getenv("NEARWARP_CONFIG_PATH")) {
    std::string_view rest = variable;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(':'), rest.size());
      if (end > 0) roots.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  std::error_code failed;
  const fs::path executable = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    roots.push_back(executable.parent_path().parent_path() / kInstalled);
  }
  if (fs::path folder = beside_library(); !folder.empty()) roots.push_back(std::move(folder));
  roots.push_back(fs::path(NW_CONFIG_SOURCE_DIR));
  std::vector<fs::path> folders;
  folders.reserve(roots.size());
  for (const fs::path& root : roots) folders.push_back(root / kind);
  return folders;
}

bool is_path(std::string_view name_or_path) {
  return name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".toml");
}

bool names_file(std::string_view key) { return key == "energy.model" || key == "dram.standard"; }

fs::path folder_of(const std::string& place) {
  if (is_change(place)) return {};
  return fs::path(place.substr(0, place.rfind(':'))).parent_path();
}

fs::path find_config(std::string_view kind, const std::string& name_or_path, const fs::path& from) {
  if (is_path(name_or_path)) {
    const fs::path path = from.empty() ? fs::path(name_or_path) : from / name_or_path;
    if (is_file(path)) return path;
    throw ErrorWithParts<>(
        {.what = fmt::format("there is no {} file '{}'", singular(kind), path.string()),
         .right = fmt::format("give a .toml file, or a name from 'nearwarp list {}'", kind),
         .file = path.string()});
  }
  for (const fs::path& folder : config_folders(kind)) {
    fs::path file = folder / (name_or_path + ".toml");
    if (!name_or_path.empty() && is_file(file)) return file;
  }
  throw UsageError(fmt::format("unknown {} '{}'{}", singular(kind), name_or_path,
                               suggestion(name_or_path, config_names(kind))));
}

std::vector<std::string> config_names(std::string_view kind) {
  std::set<std::string> names;
  for (const fs::path& folder : config_folders(kind)) {
    std::error_code failed;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
      if (entry.path().extension() == ".toml") names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> machine_names() { return config_names("machines"); }
std::vector<std::string> policy_names() { return config_names("policies"); }
std::vector<std::string> energy_names() { return config_names("energy"); }
std::vector<std::string> dram_names() { return config_names("dram"); }
std::vector<std::string> area_names() { return config_names("area"); }

}  // namespace nearwarp::config
