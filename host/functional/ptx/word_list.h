// The words of a mnemonic's modifiers, taken one by one until none may be left.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/functional/ptx/mnemonic.h"

namespace nearwarp::ptx {

using WordList = std::vector<std::string_view>;

inline WordList split(std::string_view text) {
  WordList words;
  while (!text.empty()) {
    const size_t dot = std::min(text.find('.'), text.size());
    words.push_back(text.substr(0, dot));
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return words;
}

inline void refuse(Mnemonic* out, std::string_view word) {
  if (out->problem.empty())
    out->problem = "the modifier ." + std::string(word.substr(0, 40)) + " is not supported here";
}

/// Removes a word; false if it is not there.
inline bool take(WordList* words, std::string_view word) {
  const auto it = std::find(words->begin(), words->end(), word);
  if (it == words->end()) return false;
  words->erase(it);
  return true;
}
inline void drop(WordList* words, std::initializer_list<std::string_view> ignored) {
  for (const std::string_view word : ignored) take(words, word);
}
/// Refuses whatever is left, for it is not understood.
inline void finish(const WordList& words, Mnemonic* out) {
  if (!words.empty()) refuse(out, words.front());
}

/// Removes the word of a space; generic, and false, if there is none.
inline bool take_space(WordList* words, Modifiers* m) {
  static constexpr std::pair<std::string_view, Space> kSpaces[] = {
      {"shared", Space::kShared},
      {"shared::cta", Space::kShared},
      {"shared::cluster", Space::kShared},
      {"global", Space::kGlobal}};
  for (const auto& [name, space] : kSpaces) {
    if (take(words, name)) {
      m->space = space;
      return true;
    }
  }
  m->space = Space::kGeneric;
  return false;
}

/// Removes the types among the words, in order.
inline std::vector<Type> take_types(WordList* words) {
  std::vector<Type> types;
  std::erase_if(*words, [&](std::string_view word) {
    const Type type = type_by_name(word);
    if (type != Type::kNone) types.push_back(type);
    return type != Type::kNone;
  });
  return types;
}

}  // namespace nearwarp::ptx
