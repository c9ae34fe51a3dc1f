// Several texts as an argument: keys that are changed, the words of a command, names.
#pragma once

#include <initializer_list>
#include <span>
#include <string>

namespace nearwarp {

/// A braced list, a vector, an array or a span of strings, which has to last as long as the call.
class Texts : public std::span<const std::string> {
 public:
  using span::span;
  Texts() = default;
  Texts(std::span<const std::string> all) : span(all) {}  // NOLINT: it is one
  Texts(std::initializer_list<std::string> all) : span(all.begin(), all.size()) {}
};

}  // namespace nearwarp
