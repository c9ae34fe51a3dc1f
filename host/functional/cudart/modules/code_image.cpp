// Code that an application brings: how long it is, a container says in its header, and text by a
// zero at its end. Neither may be true.
#include "host/functional/cudart/modules/code_image.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "host/functional/cudart/memory/host_memory.h"
#include "host/functional/cudart/say.h"
#include "host/functional/cudart/status/failure.h"

namespace nearwarp::cudart {

namespace {

constexpr uint32_t kContainer = 0xba55ed50, kWrapper = 0x466243b1, kElf = 0x464c457f;

struct Header {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;

  /// The end of the container, as bytes from its begin. Throws Failure for what cannot be.
  [[nodiscard]] uint64_t end() const {
    require(bytes < uint64_t{1} << 32, kErrorInvalidKernelImage);
    return header_bytes + bytes;
  }
};

void refuse_machine_code(uint32_t magic) {
  if (magic != kElf) return;
  say_once(
      "a library of machine code (cubin) cannot be loaded - load PTX (of NVRTC: compile for "
      "compute_90, not sm_90, and take nvrtcGetPTX())");
  throw Failure{kErrorNoKernelImageForDevice};
}

template <class T>
T value_at(const void* code) {
  T value;
  require(read_host(&value, code, sizeof(value)), kErrorInvalidKernelImage);
  return value;
}

/// As many bytes, or those before the first zero. Throws Failure where memory ends.
std::string bytes_at(const void* start, uint64_t most, bool until_zero) {
  constexpr size_t kPage = 4096;
  char page[kPage];
  std::string all;
  for (auto at = reinterpret_cast<uintptr_t>(start); all.size() < most;) {
    const size_t step = std::min<uint64_t>(kPage - at % kPage, most - all.size());
    require(read_host(page, reinterpret_cast<const void*>(at), step), kErrorInvalidKernelImage);
    const size_t length = until_zero ? strnlen(page, step) : step;
    all.append(page, length);
    if (length < step) break;
    at += step;
  }
  return all;
}

std::string checked_text(std::string text) {
  require(!text.empty(), kErrorInvalidKernelImage);
  return text;
}

}  // namespace

std::string code_at(const void* code) {
  require(code != nullptr);
  auto magic = value_at<uint32_t>(code);
  if (magic == kWrapper) {
    code = value_at<const void*>(static_cast<const char*>(code) + 8);
    magic = value_at<uint32_t>(code);
  }
  refuse_machine_code(magic);
  if (magic == kContainer) return bytes_at(code, value_at<Header>(code).end(), false);
  return checked_text(bytes_at(code, UINT64_MAX, true));
}

std::string code_of_file(const std::string& contents) {
  Header header{};
  require(contents.size() >= sizeof(header.magic), kErrorInvalidKernelImage);
  std::memcpy(&header, contents.data(), std::min(contents.size(), sizeof(header)));
  refuse_machine_code(header.magic);
  if (header.magic != kContainer) return checked_text(contents.substr(0, contents.find('\0')));
  require(contents.size() >= sizeof(header) && contents.size() >= header.end(),
          kErrorInvalidKernelImage);
  return contents.substr(0, header.end());
}

}  // namespace nearwarp::cudart
