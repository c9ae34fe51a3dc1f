// Where an application wants to have the compiler's messages: options of loading and linking code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace nearwarp::cudart {

/// cudaJitOption, CUjit_option, and their values. All others are about machine code.
struct CompilerLogs {
  static constexpr int kInfo = 3, kError = 5;  ///< the buffer; its size has the next number

  const int* options = nullptr;
  void** values = nullptr;
  unsigned count = 0;

  /// Writes as much as there is room for; in place of the size then is how much it was.
  void write(int buffer, const std::string& text) const {
    char* to = nullptr;
    void** size = nullptr;
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == buffer) to = static_cast<char*>(values[i]);
      if (options[i] == buffer + 1) size = &values[i];
    }
    if (size == nullptr) return;
    const auto room = static_cast<unsigned>(reinterpret_cast<uintptr_t>(*size));
    size_t bytes = 0;
    if (to != nullptr && room != 0) {
      bytes = std::min<size_t>(room - 1, text.size());
      std::memcpy(to, text.data(), bytes);
      to[bytes] = '\0';
    }
    *size = reinterpret_cast<void*>(bytes);
  }
};

}  // namespace nearwarp::cudart
