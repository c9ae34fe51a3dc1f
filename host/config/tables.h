// Settings of a configuration whose structures other parts of the program define, such as
// mechanisms.
#pragma once

#include <any>
#include <map>
#include <typeindex>

namespace nearwarp::config {

/// Structures by their types, one of each type.
class Tables {
 public:
  /// The structure of this type, for storing; it is made if need be, and its address stays valid.
  /// The const version returns default values if it has not been made.
  template <class T>
  T& of() {
    std::any& table = tables_[typeid(T)];
    if (!table.has_value()) table = T{};
    return *std::any_cast<T>(&table);
  }
  template <class T>
  const T& of() const {
    static const T kDefaults{};
    const auto at = tables_.find(typeid(T));
    return at == tables_.end() ? kDefaults : *std::any_cast<T>(&at->second);
  }

 private:
  std::map<std::type_index, std::any> tables_;
};

}  // namespace nearwarp::config
