// A list of strings as a function's argument: overrides of keys, the words of a command, names.
#pragma once

#include <initializer_list>
#include <span>
#include <string>

namespace nearwarp {

/// Refers to a braced list, a vector, an array or a span of strings, which must outlive the call.
class Texts : public std::span<const std::string> {
 public:
  using span::span;
  Texts() = default;
  Texts(std::span<const std::string> all) : span(all) {}  // NOLINT: implicit, as it is one
  Texts(std::initializer_list<std::string> all) : span(all.begin(), all.size()) {}
};

}  // namespace nearwarp
