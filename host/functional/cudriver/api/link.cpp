// Entry points that link code while the application runs. What comes of it is PTX again, which
// modules are loaded from.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/functional/cudart/code/compiler_logs.h"
#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

namespace {

/// CUjitInputType
enum Input : int {
  kInputCubin = 0,
  kInputPtx = 1,
  kInputFatBinary = 2,
  kInputObject = 3,
  kInputLibrary = 4
};

/// The state of linking: CUlinkState points to one.
struct LinkState {
  CompilerLogs logs;  ///< the application keeps them as long as this
  std::vector<std::string> units;
  std::string linked;
};

struct States {
  std::mutex mutex;
  std::unordered_map<const void*, std::unique_ptr<LinkState>> all;
};

States& states() {
  static States* const all = new States;
  return *all;
}

LinkState& checked(void* state) {
  const std::lock_guard lock(states().mutex);
  const auto it = states().all.find(state);
  require(it != states().all.end(), kErrorInvalidResourceHandle);
  return *it->second;
}

void add(LinkState& link, int type, const void* data, size_t bytes) {
  if (type != kInputPtx && type != kInputFatBinary) {
    nw_driver_say_once("objects, libraries and machine code cannot be linked - link their PTX");
    throw Failure{type == kInputCubin ? kErrorNoKernelImageForDevice : kErrorNotSupported};
  }
  check(nw_driver_read_ptx(
      data, bytes,
      [](void* to, const char* text, size_t size) {
        static_cast<LinkState*>(to)->units.emplace_back(text, size);
      },
      &link));
}

}  // namespace

NW_CU cuLinkCreate_v2(unsigned num_options, int* options, void** values, void** state) {
  return call([&] {
    require(state != nullptr && (num_options == 0 || (options != nullptr && values != nullptr)));
    auto made = std::make_unique<LinkState>();
    made->logs = {options, values, num_options};
    *state = made.get();
    const std::lock_guard lock(states().mutex);
    states().all.emplace(*state, std::move(made));
    return kSuccess;
  });
}
NW_CU cuLinkAddData_v2(void* state, int type, void* data, size_t bytes, const char*, unsigned, int*,
                       void**) {
  return call([&] {
    add(checked(state), type, data, bytes);
    return kSuccess;
  });
}
NW_CU cuLinkAddFile_v2(void* state, int type, const char* path, unsigned, int*, void**) {
  return call([&] {
    LinkState& link = checked(state);
    require(path != nullptr);
    // The device's runtime library, with which kernels launch kernels, is built in.
    if (std::filesystem::path(path).filename() == "libcudadevrt.a") return kSuccess;
    std::ifstream file(path, std::ios::binary);
    require(file.good(), kErrorFileNotFound);
    std::ostringstream whole;  // stays empty for a folder
    whole << file.rdbuf();
    const std::string contents = whole.str();
    add(link, type, contents.data(), contents.size());
    return kSuccess;
  });
}
// Calls of the same names before CUDA 6.5.
NW_CU cuLinkCreate(unsigned num_options, int* options, void** values, void** state) {
  return cuLinkCreate_v2(num_options, options, values, state);
}
NW_CU cuLinkAddData(void* state, int type, void* data, size_t bytes, const char* name,
                    unsigned num_options, int* options, void** values) {
  return cuLinkAddData_v2(state, type, data, bytes, name, num_options, options, values);
}
NW_CU cuLinkAddFile(void* state, int type, const char* path, unsigned num_options, int* options,
                    void** values) {
  return cuLinkAddFile_v2(state, type, path, num_options, options, values);
}
NW_CU cuLinkComplete(void* state, void** image, size_t* bytes) {
  return call([&] {
    LinkState& link = checked(state);
    require(image != nullptr && !link.units.empty());
    std::vector<const char*> units;
    for (const std::string& unit : link.units) units.push_back(unit.c_str());
    link.logs.write(CompilerLogs::kInfo, "");
    check(nw_driver_link_ptx(
        units.data(), units.size(),
        [](void* to, const char* text, size_t size) {
          static_cast<LinkState*>(to)->linked.assign(text, size);
        },
        [](void* to, const char* text, size_t size) {
          static_cast<LinkState*>(to)->logs.write(CompilerLogs::kError, std::string(text, size));
        },
        &link));
    link.logs.write(CompilerLogs::kError, "");
    *image = link.linked.data();
    if (bytes != nullptr) *bytes = link.linked.size() + 1;  // with the zero at its end
    return kSuccess;
  });
}
NW_CU cuLinkDestroy(void* state) {
  return call([&] {
    checked(state);
    const std::lock_guard lock(states().mutex);
    states().all.erase(state);
    return kSuccess;
  });
}

}  // namespace nearwarp::cudriver
