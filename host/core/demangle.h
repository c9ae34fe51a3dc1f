// Demangles names of C++ functions.
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <string>

namespace nearwarp {

/// The demangled name, as in "add(float const*, int)". A name that is not a mangled function's is
/// returned unchanged, so "f" does not become "float".
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
