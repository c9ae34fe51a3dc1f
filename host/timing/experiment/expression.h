// Expressions: the values of runs that figures show. An expression is a sum of quantities and
// counters, or such a sum over another one.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace nearwarp::experiment {

/// A number that every run has.
struct Quantity {
  const char* name;
  const char* unit;
  const char* meaning;  ///< a few words
};

/// All of them, in the order in which tables have them.
const std::vector<Quantity>& quantities();

/// A quantity's value in a run (nearwarp.run/1); the name must be one of them.
double quantity_of(const nlohmann::ordered_json& run, const std::string& name);

/// "a + b", or "a + b / c + d": the sum before the bar over the sum behind it. A term is a
/// quantity, a counter's name, or "energy." and the name of a term of the energy account, in mJ.
class Expression {
 public:
  /// Throws nearwarp::Error for a text that is none.
  static Expression parse(const std::string& text);

  /// The value for a run; counters and energy terms that it has not count 0. Nothing for a division
  /// by 0.
  std::optional<double> of(const nlohmann::ordered_json& run) const;

  /// Terms that the run has not.
  std::vector<std::string> unknown(const nlohmann::ordered_json& run) const;

  /// Names of quantities and counters.
  std::vector<std::string> terms() const;

  /// The unit of a single quantity; empty for other expressions.
  std::string unit() const;

 private:
  std::vector<std::string> sum_, over_;
};

}  // namespace nearwarp::experiment
