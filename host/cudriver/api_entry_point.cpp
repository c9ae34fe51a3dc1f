// Entry points that find entry points.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "host/cudriver/driver.h"
#include "host/cudriver/entry_points.h"

namespace nearwarp::cudriver {

namespace {

enum Found : int { kFound = 0, kNotFound = 1, kVersionTooLow = 2 };  // of CUdriverProcAddress...

/// "cuMemAlloc" of "cuMemAlloc_v2": programs ask for the one, and get the newest that the version
/// of CUDA that they were written for had. Per-thread default streams are the same here.
std::string_view base_name(std::string_view name) {
  if (name == "cuGraphInstantiateWithFlags") return "cuGraphInstantiate";  // since CUDA 12
  const size_t at = name.rfind("_v");
  const bool versioned = at != name.npos && at + 2 < name.size() &&
                         std::all_of(name.begin() + static_cast<ptrdiff_t>(at) + 2, name.end(),
                                     [](char c) { return c >= '0' && c <= '9'; });
  return versioned ? name.substr(0, at) : name;
}

void* find(std::string_view wanted, int version, Found& found) {
  constexpr int kFirstInstantiateWithFlags = 12000;
  const EntryPoint* best = nullptr;
  found = kNotFound;
  for (const EntryPoint* e = nw_entry_points; e->name != nullptr; ++e) {
    if (wanted != e->name && wanted != base_name(e->name)) continue;
    if (found == kNotFound) found = kVersionTooLow;
    int since = e->version;
    if (wanted != e->name && std::strcmp(e->name, "cuGraphInstantiateWithFlags") == 0)
      since = kFirstInstantiateWithFlags;
    if (since <= version && (best == nullptr || since > best->version)) best = e;
  }
  if (best == nullptr) return nullptr;
  found = kFound;
  return best->address;
}

}  // namespace

/// A function that is not found is no error, but tells nullptr.
NW_CU cuGetProcAddress_v2(const char* symbol, void** function, int version, uint64_t,
                          int* symbol_status) {
  return call(Needs::kNothing, [&] {
    require(symbol != nullptr && function != nullptr && version <= kVersion);
    Found found = kNotFound;
    *function = find(symbol, version, found);
    if (symbol_status != nullptr) *symbol_status = found;
    return kSuccess;
  });
}
NW_CU cuGetProcAddress(const char* symbol, void** function, int version, uint64_t flags) {
  const Status status = cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
  return status == kSuccess && *function == nullptr ? kErrorSymbolNotFound : status;
}

/// Tables of functions without names or documents: there are none here. A runtime library that is
/// built into an application begins with the two below (CUDA 13.0), and cannot do without them;
/// others that ask (NVRTC) can.
NW_CU cuGetExportTable(const void** table, const void* id) {
  constexpr char kOfRuntime[][17] = {
      "\xf8\xcf\xf9\x51\x21\x46\x8b\x4e\xb9\xe2\xfb\x46\x9e\x7c\x0d\xd9",
      "\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a\x89\x87\xd9\x39\x12\xfd\x9d\xf9"};
  if (table == nullptr || id == nullptr) return kErrorInvalidValue;
  *table = nullptr;
  if (std::memcmp(id, kOfRuntime[0], 16) == 0 || std::memcmp(id, kOfRuntime[1], 16) == 0) {
    nw_driver_say_once(
        "this application, or a library of it, has the CUDA runtime built in (nvcc's default), "
        "which cannot run on the simulated GPU - build it with the shared one: "
        "NVCC_APPEND_FLAGS=\"-cudart=shared\" in the environment of its build");
  }
  return kErrorNotSupported;
}

}  // namespace nearwarp::cudriver
