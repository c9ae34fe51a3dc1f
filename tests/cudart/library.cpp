// Drives libcudart.so.13 without a CUDA toolkit.
#include "tests/cudart/library.h"

#include <lz4.h>
#include <sys/personality.h>
#include <unistd.h>
#include <zstd.h>

#include <cstring>
#include <fstream>
#include <list>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace nearwarp::cudart {

namespace {

void put(std::vector<char>& out, size_t at, const void* value, size_t bytes) {
  std::memcpy(out.data() + at, value, bytes);
}
template <class T>
void put(std::vector<char>& out, size_t at, T value) {
  put(out, at, &value, sizeof(value));
}

std::vector<char> compressed(const std::string& text, Packing packing) {
  std::vector<char> data;
  if (packing == Packing::kLz4) {
    data.resize(static_cast<size_t>(LZ4_compressBound(static_cast<int>(text.size()))));
    data.resize(static_cast<size_t>(LZ4_compress_default(
        text.data(), data.data(), static_cast<int>(text.size()), static_cast<int>(data.size()))));
  } else {
    data.resize(ZSTD_compressBound(text.size()));
    data.resize(ZSTD_compress(data.data(), data.size(), text.data(), text.size(), 3));
  }
  return data;
}

void add_entries(std::vector<char>& out, const std::vector<EntryOf>& entries, uint16_t kind,
                 Packing packing) {
  for (const auto& [text, architecture, variant] : entries) {
    constexpr size_t kHeader = 72;  // longer than the least
    const size_t at = out.size();
    std::vector<char> payload(text.begin(), text.end());
    if (packing != Packing::kPlain) payload = compressed(text, packing);
    const size_t exact = payload.size();
    payload.resize((payload.size() + 7) / 8 * 8);
    out.resize(at + kHeader + payload.size());
    put<uint16_t>(out, at, kind);
    put<uint32_t>(out, at + 4, kHeader);
    put<uint64_t>(out, at + 8, payload.size());
    put<uint32_t>(out, at + 0x1c, architecture);
    uint64_t flags = variant == 'a' ? 0x100001 : variant == 'f' ? 0x200001 : 1;
    if (packing != Packing::kPlain) {
      put<uint32_t>(out, at + 0x10, static_cast<uint32_t>(exact));
      put<uint64_t>(out, at + 0x38, text.size());
      flags |= packing == Packing::kLz4 ? 0x2000 : 0x8000;
    }
    put<uint64_t>(out, at + 0x28, flags);
    put(out, at + kHeader, payload.data(), payload.size());
  }
}

std::string read_data(const std::string& name) {
  std::ifstream in(std::string(NW_SOURCE_DIR) + "/tests/cudart/" + name, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) throw std::runtime_error("cannot read " + name);
  return text.str();
}

}  // namespace

std::vector<char> make_container(const std::vector<EntryOf>& ptx, Packing packing,
                                 const std::vector<EntryOf>& machine_code) {
  std::vector<char> out(16);
  put<uint32_t>(out, 0, 0xba55ed50);
  put<uint16_t>(out, 4, 1);
  put<uint16_t>(out, 6, 16);
  add_entries(out, ptx, 1, packing);
  add_entries(out, machine_code, 2, packing);
  put<uint64_t>(out, 8, out.size() - 16);
  return out;
}

std::string read_ptx(const std::string& name) { return read_data("ptx/" + name); }
std::string read_cubin_file(const std::string& name) { return read_data("cubins/" + name); }

Library& Library::get() {
  static Library library;
  return library;
}

/// Starts the test again without address randomisation, by which the system may put a mapping where
/// the device's memory belongs. The library does this for programs that are linked with it.
__attribute__((constructor)) void without_random_addresses(int, char** argv, char**) {
  const int persona = personality(0xffffffff);
  if (persona == -1 || (persona & ADDR_NO_RANDOMIZE) != 0) return;
  if (personality(static_cast<unsigned long>(persona) | ADDR_NO_RANDOMIZE) == -1) return;
  execv("/proc/self/exe", argv);
}

Library::Library() : handle_(dlopen(NW_CUDART, RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) throw std::runtime_error(dlerror());
}

void* Library::symbol(const std::string& name) const {
  void* address = dlsym(handle_, name.c_str());
  if (address == nullptr) throw std::runtime_error("the library has no " + name);
  return address;
}

const void* Library::stub(const std::string& name) {
  static std::map<std::pair<void**, std::string>, std::unique_ptr<char>> stubs;
  std::unique_ptr<char>& place = stubs[{module_, name}];
  if (place == nullptr) place = std::make_unique<char>();
  return place.get();
}

void Library::register_kernels(Packing packing, const std::vector<EntryOf>& machine_code) {
  // Kept for good, as an executable's are.
  static std::list<std::vector<char>> containers;
  static std::list<FatWrapper> wrappers;
  const std::vector<char>& container = containers.emplace_back(
      make_container({{read_ptx("kernels.ptx"), 75}}, packing, machine_code));
  FatWrapper& wrapper = wrappers.emplace_back();
  wrapper.container = container.data();
  void** handle = call<void**>("__cudaRegisterFatBinary", static_cast<void*>(&wrapper));
  module_ = handle;
  char* const none = nullptr;
  void* const null = nullptr;
  for (const char* name : {"vector_add", "use_variables", "write_far", "write_odd", "fill_shared"})
    call<void>("__cudaRegisterFunction", handle, static_cast<const char*>(stub(name)), none, name,
               -1, null, null, null, null, static_cast<int*>(nullptr));
  for (const auto& [name, bytes] : {std::pair<const char*, size_t>{"counter", 4}, {"factors", 16}})
    call<void>("__cudaRegisterVar", handle, const_cast<char*>(static_cast<const char*>(stub(name))),
               none, name, 0, bytes, 0, 0);
  call<void>("__cudaRegisterManagedVar", handle, &managed_, none,
             static_cast<const char*>("shared_number"), 0, size_t{4}, 0, 0);
  call<void>("__cudaRegisterFatBinaryEnd", handle);
}

}  // namespace nearwarp::cudart
