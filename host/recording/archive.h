// Serialisation of structures as bytes. One function `io` per type both reads and writes it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "host/core/error.h"

namespace nearwarp::runtime {

class Writer {
 public:
  static constexpr bool kReading = false;
  void bytes(const void* p, size_t n) {
    if (n == 0) return;
    const size_t at = out.size();
    out.resize(at + n);
    std::memcpy(out.data() + at, p, n);
  }
  std::vector<uint8_t> out;
};

class Reader {
 public:
  static constexpr bool kReading = true;
  Reader(const uint8_t* data, size_t size) : p_(data), end_(data + size) {}
  void bytes(void* p, size_t n) {
    if (n > left()) throw Error("a recording ends early");
    if (n == 0) return;
    std::memcpy(p, p_, n);
    p_ += n;
  }
  size_t left() const { return static_cast<size_t>(end_ - p_); }

 private:
  const uint8_t* p_;
  const uint8_t* end_;
};

template <class A, class T>
requires std::is_arithmetic_v<T> || std::is_enum_v<T>
void io(A& a, T& v) { a.bytes(&v, sizeof(T)); }

template <class A>
void io(A& a, std::string& s) {
  uint64_t n = s.size();
  io(a, n);
  if constexpr (A::kReading) {
    if (n > a.left()) throw Error("a recording ends early");
    s.resize(n);
  }
  a.bytes(s.data(), n);
}

template <class A, class T>
void io(A& a, std::vector<T>& v) {
  uint64_t n = v.size();
  io(a, n);
  if constexpr (std::is_arithmetic_v<T>) {
    if constexpr (A::kReading) {
      if (n > a.left() / sizeof(T)) throw Error("a recording ends early");
      v.resize(n);
    }
    a.bytes(v.data(), n * sizeof(T));
  } else if constexpr (A::kReading) {
    if (n > a.left()) throw Error("a recording ends early");  // every element takes a byte or more
    // A damaged number of elements must not decide how much memory they take: they may be far
    // larger here than in the file.
    v.clear();
    v.reserve(std::min<uint64_t>(n, a.left() / sizeof(T)));
    for (; n != 0; --n) io(a, v.emplace_back());
  } else {
    for (T& e : v) io(a, e);
  }
}

/// Read or write several members one after the other.
template <class A, class... T>
void io_all(A& a, T&... members) {
  (io(a, members), ...);
}

}  // namespace nearwarp::runtime
