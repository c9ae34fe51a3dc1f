// Entry points that find entry points.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "host/functional/cudriver/api/entry_points.h"
#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

namespace {

constexpr uint64_t kStreamOfThread = 2;  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
enum Found : int { kFound = 0, kNotFound = 1, kVersionTooLow = 2 };  // of CUdriverProcAddress...

/// "cuMemAlloc" of "cuMemAlloc_v2": programs ask for the one, and get the newest that the version
/// of CUDA that they were written for had.
std::string_view base_name(std::string_view name) {
  if (name == "cuGraphInstantiateWithFlags") return "cuGraphInstantiate";  // since CUDA 12
  const size_t at = name.rfind("_v");
  const bool versioned = at != name.npos && at + 2 < name.size() &&
                         std::all_of(name.begin() + static_cast<ptrdiff_t>(at) + 2, name.end(),
                                     [](char c) { return c >= '0' && c <= '9'; });
  return versioned ? name.substr(0, at) : name;
}

/// The entry point with the given name; nullptr if there is none.
const EntryPoint* named(const std::string& name) {
  const EntryPoint* e = nw_entry_points;
  while (e->name != nullptr && name != e->name) ++e;
  return e->name != nullptr ? e : nullptr;
}

void* find(std::string_view wanted, int version, uint64_t flags, Found& found) {
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
  if (flags == kStreamOfThread)
    for (const char* suffix : {"_ptsz", "_ptds"})
      if (const EntryPoint* e = named(std::string(best->name) + suffix); e != nullptr) best = e;
  return best->address;
}

/// A table of functions without documents was asked for by code at `caller`: the CUDA runtime that
/// is built into an application cannot do without it. NVRTC asks, too, and can.
void refuse_tables(const void* caller) {
  Dl_info of{};
  const bool known = dladdr(caller, &of) != 0 && of.dli_fname != nullptr;
  const std::string path = known ? of.dli_fname : "the application";
  const std::string who = path.substr(path.find_last_of('/') + 1);
  if (who.starts_with("libnvrtc")) return;
  for (const char* own : {"libcublas.", "libcublasLt.", "libcufft.", "libcurand.", "libcusparse."})
    if (who.starts_with(own)) {
      nw_driver_say_once(
          (path +
           " has answered in place of nearwarp's own library of that name, and asks for functions "
           "of the CUDA driver that have no documents (cuGetExportTable) - load it by its name "
           "alone, and not by a path, so that nearwarp's is found")
              .c_str());
      return;
    }
  nw_driver_say_once(
      (who +
       " asks for functions of the CUDA driver that have no documents (cuGetExportTable), and "
       "there "
       "are none - most likely it has the CUDA runtime built in (nvcc's default): if it is yours, "
       "build it with the shared one, NVCC_APPEND_FLAGS=\"-cudart=shared\" in the environment of "
       "its "
       "build")
          .c_str());
}

Status get(const char* symbol, void** function, int version, uint64_t flags, int* symbol_status,
           const void* caller) {
  return call(Needs::kNothing, [&] {
    require(symbol != nullptr && function != nullptr && version <= kVersion);
    require(flags <= kStreamOfThread);
    Found found = kNotFound;
    *function = find(symbol, version, flags, found);
    if (symbol_status != nullptr) *symbol_status = found;
    if (std::string_view(symbol) == "cuGetExportTable") refuse_tables(caller);
    return kSuccess;
  });
}

}  // namespace

/// A function that is not found is no error, but tells nullptr.
NW_CU cuGetProcAddress_v2(const char* symbol, void** function, int version, uint64_t flags,
                          int* symbol_status) {
  return get(symbol, function, version, flags, symbol_status, __builtin_return_address(0));
}
NW_CU cuGetProcAddress(const char* symbol, void** function, int version, uint64_t flags) {
  const Status status = get(symbol, function, version, flags, nullptr, __builtin_return_address(0));
  return status == kSuccess && *function == nullptr ? kErrorSymbolNotFound : status;
}
NW_CU cuGetExportTable(const void** table, const void*) {
  if (table == nullptr) return kErrorInvalidValue;
  *table = nullptr;
  refuse_tables(__builtin_return_address(0));
  return kErrorNotSupported;
}

}  // namespace nearwarp::cudriver
