// Polynomials with integer coefficients over what is constant while a thread block runs, and over
// what is not known: addresses as CODA's analysis sees them (section 4.3.2).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace nearwarp::compiler {

/// A factor of a monomial.
struct Factor {
  enum class Kind : uint8_t {
    kParam,     ///< a kernel parameter; index: its number
    kVariable,  ///< the address of a module's variable; index: its symbol
    kNtid,      ///< index: 0 to 2 for x, y, z; of the following, too
    kNctaid,
    kTid,
    kCtaid,
    kLoop,     ///< unknown, the same for all thread blocks; index: which one
    kOfBlock,  ///< unknown, and may depend on the thread block
    kLoaded,   ///< comes from memory
  };
  Kind kind = Kind::kParam;
  uint32_t index = 0;
  auto operator<=>(const Factor&) const = default;
};

class Polynomial {
 public:
  using Monomial = std::vector<Factor>;  ///< sorted; empty: 1

  Polynomial() = default;
  explicit Polynomial(int64_t constant);
  explicit Polynomial(Factor factor);

  Polynomial& add(const Polynomial& other, int64_t times = 1);
  Polynomial times(const Polynomial& other) const;
  bool operator==(const Polynomial&) const = default;

  const std::map<Monomial, int64_t>& terms() const { return terms_; }
  bool is_zero() const { return terms_.empty(); }
  /// Is it a number? Then `value` is it.
  bool is_constant(int64_t& value) const;
  bool has(Factor::Kind kind) const;
  bool has(Factor factor) const;
  /// By how much it grows when `factor` grows by one; the factor may occur in it once a term.
  /// `linear` is false if it occurs more often.
  Polynomial step(Factor factor, bool& linear) const;
  /// The polynomial's value, with `value_of` for each factor.
  int64_t evaluate(const std::function<int64_t(Factor)>& value_of) const;
  /// E.g. "4*ntid.x*nfeatures + 16"; factors by their names.
  std::string text(const std::function<std::string(Factor)>& name_of) const;

 private:
  std::map<Monomial, int64_t> terms_;  ///< no zero coefficients
};

}  // namespace nearwarp::compiler
