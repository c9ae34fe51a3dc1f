// Arithmetic of polynomials, modulo 2^64.
#include "host/mechanisms/coda/pass/polynomial.h"

#include <fmt/format.h>

#include <algorithm>

namespace nearwarp::compiler {

Polynomial::Polynomial(int64_t constant) {
  if (constant != 0) terms_[{}] = constant;
}

Polynomial::Polynomial(Factor factor) { terms_[{factor}] = 1; }

Polynomial& Polynomial::add(const Polynomial& other, int64_t times) {
  for (const auto& [monomial, coefficient] : other.terms_) {
    const auto at = terms_.try_emplace(monomial, 0).first;
    at->second =
        static_cast<int64_t>(static_cast<uint64_t>(at->second) +
                             static_cast<uint64_t>(coefficient) * static_cast<uint64_t>(times));
    if (at->second == 0) terms_.erase(at);
  }
  return *this;
}

Polynomial Polynomial::times(const Polynomial& other) const {
  Polynomial product;
  for (const auto& [a, x] : terms_) {
    for (const auto& [b, y] : other.terms_) {
      Monomial both = a;
      both.insert(both.end(), b.begin(), b.end());
      std::sort(both.begin(), both.end());
      Polynomial term;
      term.terms_[both] = static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
      product.add(term);
    }
  }
  return product;
}

bool Polynomial::is_constant(int64_t& value) const {
  value = 0;
  if (terms_.empty()) return true;
  if (terms_.size() != 1 || !terms_.begin()->first.empty()) return false;
  value = terms_.begin()->second;
  return true;
}

bool Polynomial::has(Factor::Kind kind) const {
  return std::any_of(terms_.begin(), terms_.end(), [&](const auto& term) {
    return std::any_of(term.first.begin(), term.first.end(),
                       [&](const Factor& f) { return f.kind == kind; });
  });
}

bool Polynomial::has(Factor factor) const {
  return std::any_of(terms_.begin(), terms_.end(), [&](const auto& term) {
    return std::find(term.first.begin(), term.first.end(), factor) != term.first.end();
  });
}

Polynomial Polynomial::step(Factor factor, bool& linear) const {
  Polynomial out;
  linear = true;
  for (const auto& [monomial, coefficient] : terms_) {
    const auto n = std::count(monomial.begin(), monomial.end(), factor);
    if (n == 0) continue;
    if (n > 1) linear = false;
    Polynomial rest;
    Monomial without = monomial;
    without.erase(std::find(without.begin(), without.end(), factor));
    rest.terms_[without] = coefficient;
    out.add(rest);
  }
  return out;
}

int64_t Polynomial::evaluate(const std::function<int64_t(Factor)>& value_of) const {
  uint64_t sum = 0;
  for (const auto& [monomial, coefficient] : terms_) {
    auto product = static_cast<uint64_t>(coefficient);
    for (const Factor& f : monomial) product *= static_cast<uint64_t>(value_of(f));
    sum += product;
  }
  return static_cast<int64_t>(sum);
}

std::string Polynomial::text(const std::function<std::string(Factor)>& name_of) const {
  if (terms_.empty()) return "0";
  std::string text;
  for (const auto& [monomial, coefficient] : terms_) {
    const bool negative = coefficient < 0;
    const uint64_t size = negative ? uint64_t{0} - static_cast<uint64_t>(coefficient)
                                   : static_cast<uint64_t>(coefficient);
    if (text.empty()) {
      text += negative ? "-" : "";
    } else {
      text += negative ? " - " : " + ";
    }
    std::string product;
    if (size != 1 || monomial.empty()) product = fmt::format("{}", size);
    for (const Factor& f : monomial) product += (product.empty() ? "" : "*") + name_of(f);
    text += product;
  }
  return text;
}

}  // namespace nearwarp::compiler
