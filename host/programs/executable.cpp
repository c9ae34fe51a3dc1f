// Reads ELF files of applications, and explains why one cannot run on the simulated GPU.
#include "host/programs/executable.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "host/core/error.h"

namespace nearwarp::programs {
namespace {

namespace fs = std::filesystem;

/// Beginnings of names of CUDA libraries with machine code and a runtime of their own, which calls
/// the driver.
constexpr const char* kWithoutPtx[] = {"libcublas",   "libcufft", "libcurand", "libcusparse",
                                       "libcusolver", "libcudnn", "libnpp",    "libnccl"};

/// Is there a driver on this machine?
bool has_driver() {
  void* const handle = dlopen(kDriverName, RTLD_LAZY);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}
constexpr uint64_t kMostBytes = 64 << 20;  // the largest table that is read

/// Reads parts of a file; parts beyond its end are short or empty.
class FileParts {
 public:
  explicit FileParts(const std::string& path) : in_(path, std::ios::binary) {}
  template <class T>
  bool read(uint64_t offset, T& value) {
    const std::vector<char> data = bytes(offset, sizeof(T));
    if (data.size() != sizeof(T)) return false;
    std::memcpy(&value, data.data(), sizeof(T));
    return true;
  }
  std::vector<char> bytes(uint64_t offset, uint64_t count) {
    if (count > kMostBytes) return {};
    std::vector<char> data(count);
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(offset));
    in_.read(data.data(), static_cast<std::streamsize>(count));
    data.resize(static_cast<size_t>(std::max<std::streamsize>(in_.gcount(), 0)));
    return data;
  }

 private:
  std::ifstream in_;
};

std::string text_at(const std::vector<char>& table, uint64_t offset) {
  std::string text;
  for (uint64_t i = offset; i < table.size() && table[i] != '\0'; ++i) text += table[i];
  return text;
}

void read_dynamic(FileParts& file, const Elf64_Shdr& dynamic, const Elf64_Shdr& strings,
                  ExecutableFacts& facts) {
  const std::vector<char> entries = file.bytes(dynamic.sh_offset, dynamic.sh_size);
  const std::vector<char> names = file.bytes(strings.sh_offset, strings.sh_size);
  for (size_t at = 0; at + sizeof(Elf64_Dyn) <= entries.size(); at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    std::memcpy(&entry, entries.data() + at, sizeof(entry));
    if (entry.d_tag == DT_RPATH) facts.overrides_search = true;
    if (entry.d_tag != DT_NEEDED) continue;
    const std::string name = text_at(names, entry.d_un.d_val);
    if (name == kDriverName) facts.needs_driver = true;
    const bool own = std::ranges::find(kOwnLibraries, name) != std::end(kOwnLibraries);
    if (own) facts.own_libraries.push_back(name);
    for (const char* library : kWithoutPtx)
      if (!own && name.starts_with(library)) facts.without_ptx.push_back(name);
    if (!name.starts_with("libcudart.so")) continue;
    facts.shared_runtime = true;
    facts.runtime = name;
  }
}

}  // namespace

std::string find_executable(const std::string& name) {
  std::vector<std::string> places;
  if (name.find('/') != std::string::npos) {
    places.push_back(name);
  } else {
    const char* path = std::getenv("PATH");
    std::string rest = path == nullptr ? "/usr/bin:/bin" : path;
    for (size_t begin = 0; begin <= rest.size();) {
      const size_t end = std::min(rest.find(':', begin), rest.size());
      places.push_back((end > begin ? rest.substr(begin, end - begin) : ".") + "/" + name);
      begin = end + 1;
    }
  }
  std::error_code failed;
  for (const std::string& place : places) {
    if (!fs::exists(place, failed)) continue;
    if (fs::is_directory(place, failed)) {
      if (places.size() == 1)
        throw UsageError(fmt::format("'{}' is a folder - name the application in it", name));
      continue;
    }
    if (access(place.c_str(), X_OK) == 0) return place;
    if (places.size() == 1)
      throw UsageError(
          fmt::format("'{}' is not executable - name an application, or `chmod +x` it", name));
  }
  const bool here = name.find('/') == std::string::npos && fs::exists(name, failed);
  throw UsageError(fmt::format("there is no application '{}'{}", name,
                               here ? fmt::format(" in $PATH - did you mean './{}'?", name)
                                    : " - name a program that can be run"));
}

ExecutableFacts inspect_executable(const std::string& path) {
  ExecutableFacts facts;
  FileParts file(path);
  Elf64_Ehdr header;
  if (!file.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64)
    return facts;
  facts.is_program = true;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  for (size_t i = 0; i < sections.size(); ++i)
    if (!file.read(header.e_shoff + i * sizeof(Elf64_Shdr), sections[i])) return facts;
  if (header.e_shstrndx >= sections.size()) return facts;
  const Elf64_Shdr& table = sections[header.e_shstrndx];
  const std::vector<char> names = file.bytes(table.sh_offset, table.sh_size);
  for (const Elf64_Shdr& section : sections) {
    if (text_at(names, section.sh_name) == ".nvFatBinSegment") facts.has_kernels = true;
    if (section.sh_type == SHT_DYNAMIC && section.sh_link < sections.size())
      read_dynamic(file, section, sections[section.sh_link], facts);
  }
  return facts;
}

void check_executable(const std::string& path, const ExecutableFacts& facts, bool offers_driver) {
  // A program of the driver API may contain the static runtime without using it.
  if (facts.has_kernels && !facts.shared_runtime && !(facts.needs_driver && offers_driver))
    throw UsageError(fmt::format(
        "'{}' has the CUDA runtime built in (nvcc's default), which cannot be replaced - build it "
        "with the shared one: NVCC_APPEND_FLAGS=\"-cudart=shared\" in the environment of its build",
        path));
  if (facts.shared_runtime && facts.runtime != kRuntimeName && facts.runtime != kOlderRuntimeName)
    throw UsageError(
        fmt::format("'{}' needs {}, and nearwarp stands in for {} and {} - build it with CUDA 13",
                    path, facts.runtime, kRuntimeName, kOlderRuntimeName));
  if (facts.needs_driver && !offers_driver && !has_driver())
    throw UsageError(fmt::format(
        "'{}' is linked with the driver's library {}, which is not on this machine, and nearwarp's "
        "own is not in ../lib/nearwarp/driver beside the program - build the target 'cudriver', or "
        "install nearwarp anew; or link without -lcuda, or with -Wl,--as-needed if nothing of it "
        "is "
        "used",
        path, kDriverName));
}

}  // namespace nearwarp::programs
