// Polynomials with integer coefficients, as which CODA's analysis represents addresses (section
// 4.3.2). Their factors are values that are constant while a thread block runs, and unknown ones.
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
    kNtid,      ///< %ntid; index of this and the next three: 0 to 2 for x, y, z
    kNctaid,
    kTid,
    kCtaid,
    kLoop,     ///< an unknown value that is the same for all thread blocks; index: its number
    kOfBlock,  ///< an unknown value that may depend on the thread block
    kLoaded,   ///< a value that was loaded from memory
  };
  Kind kind = Kind::kParam;
  uint32_t index = 0;
  auto operator<=>(const Factor&) const = default;
};

/// A polynomial, computed modulo 2^64 as addresses are.
class Polynomial {
 public:
  using Monomial = std::vector<Factor>;  ///< a product of sorted factors; empty: 1

  Polynomial() = default;
  explicit Polynomial(int64_t constant);
  explicit Polynomial(Factor factor);

  Polynomial& add(const Polynomial& other, int64_t times = 1);
  Polynomial times(const Polynomial& other) const;
  bool operator==(const Polynomial&) const = default;

  const std::map<Monomial, int64_t>& terms() const { return terms_; }
  bool is_zero() const { return terms_.empty(); }
  /// Is it a number? If so, `value` is set to it.
  bool is_constant(int64_t& value) const;
  bool has(Factor::Kind kind) const;
  bool has(Factor factor) const;
  /// The change of the polynomial's value when `factor` grows by one. `linear` is set to false, and
  /// the result is wrong, if a term has the factor more than once.
  Polynomial step(Factor factor, bool& linear) const;
  /// The polynomial's value, with `value_of` for each factor.
  int64_t evaluate(const std::function<int64_t(Factor)>& value_of) const;
  /// A text such as "4*ntid.x*nfeatures + 16", with names of factors by `name_of`.
  std::string text(const std::function<std::string(Factor)>& name_of) const;

 private:
  std::map<Monomial, int64_t> terms_;  ///< no zero coefficients
};

}  // namespace nearwarp::compiler
