// Reads a table of an experiment's file strictly: unknown keys and wrong types are errors.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/config/nearest.h"
#include "host/core/error.h"

namespace nearwarp::experiment {

using Names = std::vector<std::string>;

/// A table of the file, and the keys that have been read; finish() refuses all others. All
/// functions throw nearwarp::Error, with file and line, for values of a wrong type or range.
class Section {
 public:
  Section(const toml::table& table, std::string file, std::string name)
      : table_(&table), file_(std::move(file)), name_(std::move(name)) {}

  /// "file:line" of a node, or of the table itself.
  std::string where(const toml::node* node = nullptr) const {
    const auto line = (node != nullptr ? node->source() : table_->source()).begin.line;
    return fmt::format("{}:{}", file_, line == 0 ? 1 : line);
  }
  int line() const { return static_cast<int>(table_->source().begin.line); }

  [[noreturn]] void fail(const std::string& what, const toml::node* node,
                         const std::string& right) const {
    throw Error(fmt::format("{}: {} ({}) - {}", name_, what, where(node), right));
  }

  /// The value of a key, which then counts as read; nullptr if it is missing.
  const toml::node* find(const std::string& key) {
    known_.push_back(key);
    return table_->get(key);
  }

  std::string text(const std::string& key, bool needed) {
    const toml::node* node = find(key);
    if (node == nullptr) {
      if (needed) fail(fmt::format("'{}' is missing", key), nullptr, key + " = \"a text\"");
      return "";
    }
    const auto value = node->value_exact<std::string>();
    if (!value) fail(fmt::format("'{}' is no text", key), node, "put it into quotation marks");
    return *value;
  }

  double number(const std::string& key) {
    const toml::node* node = find(key);
    if (node == nullptr || !node->is_number())
      fail(fmt::format("'{}' is no number", key), node, key + " = 1.25");
    return *node->value<double>();
  }

  /// A list of texts; a single text is a list of one.
  Names list(const std::string& key, bool needed) {
    const toml::node* node = find(key);
    Names names;
    if (node != nullptr && node->is_string()) return {*node->value<std::string>()};
    if (node != nullptr && node->is_array()) {
      for (const toml::node& element : *node->as_array()) {
        const auto value = element.value_exact<std::string>();
        if (!value)
          fail(fmt::format("'{}' holds something else than texts", key), &element,
               "put it into quotation marks");
        names.push_back(*value);
      }
    } else if (node != nullptr) {
      fail(fmt::format("'{}' is no list", key), node, key + " = [\"a\", \"b\"]");
    }
    if (needed && names.empty())
      fail(fmt::format("'{}' names nothing", key), node, key + " = [\"a\", \"b\"]");
    return names;
  }

  /// The value of one of the words, or `otherwise` if the key is missing.
  template <class Enum>
  Enum choice(const std::string& key, Enum otherwise,
              const std::vector<std::pair<std::string, Enum>>& words) {
    const std::string word = text(key, false);
    if (word.empty()) return otherwise;
    Names valid;
    for (const auto& [name, value] : words) {
      if (name == word) return value;
      valid.push_back(name);
    }
    fail(fmt::format("'{}' cannot be \"{}\"", key, word), table_->get(key),
         fmt::format("allowed: {}", fmt::join(valid, ", ")));
  }

  /// One to three whole numbers from 1 on, the extents of a grid or thread block; `otherwise` if
  /// the key is missing.
  std::array<uint32_t, 3> extent(const std::string& key, std::array<uint32_t, 3> otherwise) {
    const toml::node* node = find(key);
    if (node == nullptr) return otherwise;
    std::array<uint32_t, 3> sizes = {1, 1, 1};
    size_t count = 0;
    const auto add = [&](const toml::node& element) {
      const auto value = element.value_exact<int64_t>();
      if (!value || *value < 1 || *value > 0x7fffffff || count == sizes.size())
        fail(fmt::format("'{}' is no size", key), node, key + " = [64, 1, 1], or = 64");
      sizes[count++] = static_cast<uint32_t>(*value);
    };
    if (const toml::array* array = node->as_array(); array != nullptr && !array->empty()) {
      for (const toml::node& element : *array) add(element);
    } else {
      add(*node);
    }
    return sizes;
  }

  /// A whole number from `least` to `most`, or `otherwise` if the key is missing.
  uint64_t whole(const std::string& key, uint64_t least, uint64_t most, uint64_t otherwise) {
    const toml::node* node = find(key);
    if (node == nullptr) return otherwise;
    const auto value = node->value_exact<int64_t>();
    if (!value || *value < static_cast<int64_t>(least) || *value > static_cast<int64_t>(most))
      fail(fmt::format("'{}' is no whole number from {} to {}", key, least, most), node,
           fmt::format("{} = {}", key, std::max<uint64_t>(least, 1)));
    return static_cast<uint64_t>(*value);
  }

  /// The tables of an array of tables, or of a table of named tables.
  std::vector<Section> sections(const std::string& key) {
    std::vector<Section> found;
    const toml::node* node = find(key);
    if (node == nullptr) return found;
    if (const toml::table* named = node->as_table()) {
      std::vector<std::pair<uint32_t, Section>> in_order;  // toml++ sorts tables by name
      for (const auto& [name, element] : *named) {
        if (!element.is_table())
          fail(fmt::format("'{}.{}' is no section", key, name.str()), &element,
               fmt::format("[{}.{}]", key, name.str()));
        in_order.emplace_back(element.source().begin.line,
                              Section(*element.as_table(), file_, std::string(name.str())));
      }
      std::stable_sort(in_order.begin(), in_order.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      for (auto& [line, section] : in_order) found.push_back(std::move(section));
      return found;
    }
    const toml::array* array = node->as_array();
    if (array == nullptr) fail(fmt::format("'{}' is no list", key), node, "[[" + key + "]]");
    for (const toml::node& element : *array) {
      if (!element.is_table())
        fail(fmt::format("'{}' holds something else than tables", key), &element,
             "[[" + key + "]]");
      found.emplace_back(*element.as_table(), file_, name_ + "." + key);
    }
    return found;
  }

  const std::string& name() const { return name_; }

  /// Refuse all keys but these. It is called before values are read, so that an unknown key is
  /// reported rather than a missing one that it was meant to be.
  void only(const Names& keys) {
    known_ = keys;
    finish();
  }

  /// Refuse keys that have not been read.
  void finish() const {
    for (const auto& [key, node] : *table_) {
      const std::string name(key.str());
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      throw Error(fmt::format("{}: unknown key '{}' ({}){}", name_, name, where(&node),
                              config::suggestion(name, known_)));
    }
  }

 private:
  const toml::table* table_;
  std::string file_, name_;
  Names known_;
};

}  // namespace nearwarp::experiment
