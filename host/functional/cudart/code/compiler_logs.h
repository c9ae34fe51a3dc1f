// Options of loading and linking code that pass an application's buffers for the compiler's
// messages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace nearwarp::cudart {

/// The options (cudaJitOption, CUjit_option) with their values. Only those for messages are used;
/// all others concern machine code.
struct CompilerLogs {
  static constexpr int kInfo = 3,
                       kError = 5;  ///< options for buffers; that for its size is the next

  const int* options = nullptr;
  void** values = nullptr;
  unsigned count = 0;

  /// Writes a text into a buffer, cut to its size, and stores the written size in place of the
  /// buffer's.
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
