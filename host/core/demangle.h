// Names of C++ functions as people write them.
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <string>

namespace nearwarp {

/// "add(float const*, int)" for a mangled name; the name itself if it is none (a type's, such as
/// "f" for float, is none either).
inline std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  if (text == nullptr) return name;
  std::string result = text;
  std::free(text);
  return result;
}

}  // namespace nearwarp
