// Tables of a configuration file that parts of the program bring along, by the type of each.
#pragma once

#include <any>
#include <map>
#include <typeindex>

namespace nearwarp::config {

/// One structure of each type, with its defaults where nothing has been stored.
class Tables {
 public:
  /// For storing: makes the structure if it is not there yet. It stays where it is.
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
