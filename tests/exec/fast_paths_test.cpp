// Do the fast paths of loads, stores and atomics leave the values and traces of the general ones?
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "host/functional/instructions/atomic.h"
#include "host/functional/instructions/memory_fast.h"
#include "tests/support/rounds.h"

namespace nearwarp::exec {
namespace {

constexpr uint64_t kBytes = 1 << 16;
constexpr uint16_t kAddressRow = 0, kValueRow = 2, kOtherRow = 4, kResultRow = 6;

/// A warp over one allocation that begins somewhere inside of device memory.
struct Machine {
  std::vector<uint8_t> arena = std::vector<uint8_t>(kBytes + 4096);
  Range range{kDeviceBase + 1024, kBytes};
  alignas(128) std::array<uint8_t, 8 * kRowBytes> rows = {};
  std::vector<uint64_t> trace = std::vector<uint64_t>(trace::kMaxRecordWords);
  MemDesc desc;
  Context context;
  Warp warp;

  Machine() {
    for (size_t i = 0; i < arena.size(); ++i) arena[i] = static_cast<uint8_t>(i * 37);
    context.arena = arena.data();
    context.ranges = &range;
    context.num_ranges = 1;
    context.memory = &desc;
    warp.rows = rows.data();
    warp.trace = trace.data();
    warp.trace_capacity = trace.size();
    // As an access before has left it.
    desc.lo = range.lo;
    desc.span = range.bytes;
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  std::vector<uint64_t> traced() const {
    return {trace.begin(), trace.begin() + static_cast<std::ptrdiff_t>(warp.trace_size)};
  }
};

struct Pattern {
  uint32_t mask = 0;
  std::array<uint64_t, kLanes> offsets = {};
};

/// Masks of all densities; progressions, with and without a lane that leaves them, and random
/// places.
std::vector<Pattern> patterns(uint32_t bytes) {
  std::mt19937 random(7);
  std::vector<Pattern> out;
  for (uint32_t k = 0; k < testing::rounds(1000); ++k) {
    Pattern p;
    p.mask = random();
    for (uint32_t thin = random() % 4; thin > 0; --thin) p.mask &= random();
    if (p.mask == 0) p.mask = 1u << random() % 32;
    const uint64_t places = kBytes / bytes;
    const uint64_t start = random() % (places / 2), stride = random() % 64;
    for (uint32_t i = 0; i < kLanes; ++i)
      p.offsets[i] = bytes * (k % 3 == 0 ? random() % places : start + stride * i);
    if (k % 3 == 1) p.offsets[random() % kLanes] = bytes * (random() % places);
    out.push_back(p);
  }
  return out;
}

template <class U>
void fill(Machine& m, const Pattern& p, uint32_t seed) {
  std::mt19937 random(seed);
  for (uint32_t i = 0; i < kLanes; ++i) {
    row<uint64_t>(m.warp.rows, kAddressRow)[i] = m.range.lo + p.offsets[i] - 16;
    row<U>(m.warp.rows, kValueRow)[i] = static_cast<U>(random());
    row<U>(m.warp.rows, kOtherRow)[i] = static_cast<U>(random());
    row<U>(m.warp.rows, kResultRow)[i] = static_cast<U>(random());
  }
}

template <class U>
MemDesc described(bool guarded) {
  MemDesc d;
  d.bytes = sizeof(U);
  d.reg_bytes = sizeof(U);
  d.guarded = guarded ? 1 : 0;
  d.rows[0] = kResultRow;
  return d;
}

/// `fast` and `general` run on equal machines and must leave them equal.
template <class U, class Fast, class General>
void expect_equal(const MemDesc& desc, const Op& op, Fast fast, General general) {
  uint32_t seed = 0;
  for (const Pattern& p : patterns(sizeof(U))) {
    Machine a, b;
    for (Machine* m : {&a, &b}) {
      const uint64_t lo = m->desc.lo, span = m->desc.span;
      m->desc = desc;
      m->desc.lo = lo;
      m->desc.span = span;
      fill<U>(*m, p, seed);
    }
    ++seed;
    ASSERT_TRUE(fast(a.context, a.warp, op, p.mask));
    ASSERT_TRUE(general(b.context, b.warp, op, p.mask));
    ASSERT_EQ(a.traced(), b.traced()) << "mask " << p.mask;
    ASSERT_EQ(a.rows, b.rows);
    ASSERT_EQ(a.arena, b.arena);
    ASSERT_EQ(a.context.stored, b.context.stored);
    ASSERT_EQ(a.context.polled, b.context.polled);
  }
}

Op operation(uint16_t d, uint16_t b) {
  Op op;
  op.a = kAddressRow;
  op.b = b;
  op.d = d;
  op.imm = 16;
  return op;
}

template <class U>
void check_loads_and_stores() {
  for (const bool guarded : {false, true}) {
    expect_equal<U>(
        described<U>(guarded), operation(kResultRow, 0),
        [](Context& c, Warp& w, const Op& op, uint32_t mask) {
          trace_guard(w, c.memory[0], 0);  // as if one without lanes came before
          return load_global_masked<U>(c, w, op, mask);
        },
        [](Context& c, Warp& w, const Op& op, uint32_t mask) {
          trace_guard(w, c.memory[0], 0);
          return load_general(c, w, op, mask);
        });
    MemDesc store = described<U>(guarded);
    store.is_store = 1;
    store.rows[0] = kValueRow;
    expect_equal<U>(
        store, operation(0, kValueRow),
        [](Context& c, Warp& w, const Op& op, uint32_t mask) {
          return store_global_masked<U>(c, w, op, mask);
        },
        [](Context& c, Warp& w, const Op& op, uint32_t mask) {
          return store_general(c, w, op, mask);
        });
  }
}

TEST(FastPaths, PartialLoadsAndStores) {
  check_loads_and_stores<uint32_t>();
  check_loads_and_stores<uint64_t>();
}

template <class U>
void check_atomics() {
  for (const AtomOp kind : {AtomOp::kAdd, AtomOp::kMin, AtomOp::kMax, AtomOp::kXor, AtomOp::kExch,
                            AtomOp::kCas, AtomOp::kInc}) {
    MemDesc desc = described<U>(kind == AtomOp::kMin);
    desc.is_store = desc.polls = 1;
    desc.atomic = kind;
    desc.has_result = kind == AtomOp::kAdd ? 0 : 1;
    desc.operand_b = kValueRow;
    desc.operand_c = kOtherRow;
    // The general path is that of instructions whose last access was elsewhere.
    expect_equal<U>(
        desc, operation(kResultRow, 0),
        [](Context& c, Warp& w, const Op& op, uint32_t mask) {
          return atomic_general(c, w, op, mask);
        },
        [](Context& c, Warp& w, const Op& op, uint32_t mask) {
          c.memory[0].span = 0;
          return atomic_general(c, w, op, mask);
        });
  }
}

/// Lane i of a warp loads at 16 i + 16; the destination had all bits set.
template <class Register>
std::vector<Register> loaded(MemDesc desc, uint16_t from) {
  Machine m;
  desc.lo = m.desc.lo;
  desc.span = m.desc.span;
  m.desc = desc;
  for (uint32_t i = 0; i < kLanes; ++i)
    row<uint64_t>(m.warp.rows, kAddressRow)[i] = m.range.lo + 16 * uint64_t{i};
  Register* d = row<Register>(m.warp.rows, from);
  std::fill_n(d, kLanes, static_cast<Register>(~Register{0}));
  EXPECT_TRUE(load_general(m.context, m.warp, operation(kResultRow, 0), 0x7fffffff));
  return {d, d + kLanes};
}

/// The bytes that Machine has there.
template <class T>
T in_memory(uint32_t lane, uint32_t element) {
  T v;
  std::array<uint8_t, sizeof(T)> bytes;
  for (uint32_t k = 0; k < sizeof(T); ++k)
    bytes[k] = static_cast<uint8_t>((1024 + 16 + 16 * lane + element * sizeof(T) + k) * 37);
  std::memcpy(&v, bytes.data(), sizeof(T));
  return v;
}

template <class T, class Register>
void expect_extended(uint8_t reg_bytes) {
  MemDesc d;
  d.bytes = sizeof(T);
  d.reg_bytes = reg_bytes;
  d.extend = std::is_signed_v<T> ? Extend::kSign : Extend::kZero;
  d.vector = 2;
  d.rows[0] = kNoRow;  // `_`
  d.rows[1] = kResultRow;
  const std::vector<Register> got = loaded<Register>(d, kResultRow);
  for (uint32_t lane = 0; lane < 31; ++lane) {
    const auto wide = static_cast<Register>(in_memory<T>(lane, 1));
    EXPECT_EQ(got[lane], reg_bytes == 2 ? wide & 0xffff : wide) << sizeof(T) << " lane " << lane;
  }
  EXPECT_EQ(got[31], static_cast<Register>(~Register{0}));
}

TEST(GeneralAccesses, LoadsExtendAsTheirTypesSay) {
  expect_extended<int8_t, uint32_t>(2);
  expect_extended<uint8_t, uint32_t>(2);
  expect_extended<int8_t, uint32_t>(4);
  expect_extended<int16_t, uint32_t>(4);
  expect_extended<uint16_t, uint32_t>(4);
  expect_extended<int8_t, uint64_t>(8);
  expect_extended<int16_t, uint64_t>(8);
  expect_extended<int32_t, uint64_t>(8);
  expect_extended<uint32_t, uint64_t>(8);
  expect_extended<uint32_t, uint32_t>(4);
  expect_extended<uint64_t, uint64_t>(8);
}

/// Lanes 2 k and 2 k + 1 store two elements of 16 bits each at 4 k.
TEST(GeneralAccesses, OfLanesThatStoreToOnePlaceTheLastCounts) {
  Machine m;
  m.desc.bytes = 2;
  m.desc.vector = 2;
  m.desc.is_store = 1;
  m.desc.rows[0] = kValueRow;
  m.desc.rows[1] = kOtherRow;
  for (uint32_t i = 0; i < kLanes; ++i) {
    row<uint64_t>(m.warp.rows, kAddressRow)[i] = m.range.lo + 4 * uint64_t{i / 2} - 16;
    row<uint32_t>(m.warp.rows, kValueRow)[i] = 0x10000 + i;
    row<uint32_t>(m.warp.rows, kOtherRow)[i] = 0x20100 + i;
  }
  const auto at = [&](uint32_t place) {
    uint16_t v;
    std::memcpy(&v, m.arena.data() + 1024 + 2 * size_t{place}, 2);
    return v;
  };
  ASSERT_TRUE(store_general(m.context, m.warp, operation(0, kValueRow), kFullMask));
  for (uint32_t k = 0; k < kLanes / 2; ++k) {
    EXPECT_EQ(at(2 * k), 2 * k + 1);
    EXPECT_EQ(at(2 * k + 1), 0x100 + 2 * k + 1);
  }
}

TEST(FastPaths, AtomicsOfPartialWarps) {
  check_atomics<uint32_t>();
  check_atomics<uint64_t>();
}

TEST(FastPaths, RefuseWhatLeavesTheAllocation) {
  for (const int64_t beside : {int64_t{-4}, static_cast<int64_t>(kBytes) - 3,
                               static_cast<int64_t>(kBytes), int64_t{1} << 40, int64_t{2}}) {
    Machine m;
    const uint64_t lo = m.desc.lo, span = m.desc.span;
    m.desc = described<uint32_t>(false);
    m.desc.lo = lo;
    m.desc.span = span;
    Pattern p;
    p.offsets[5] = static_cast<uint64_t>(beside);
    fill<uint32_t>(m, p, 1);
    EXPECT_TRUE(load_global_masked<uint32_t>(m.context, m.warp, operation(kResultRow, 0), 0x1f));
    m.warp.trace_size = 0;
    EXPECT_FALSE(load_global_masked<uint32_t>(m.context, m.warp, operation(kResultRow, 0), 0x3f))
        << beside;
    EXPECT_NE(m.context.fault.kind, FaultKind::kNone);
    EXPECT_EQ(m.context.fault.lane, 5u);
    EXPECT_EQ(m.warp.trace_size, 0u);
    m.context.fault = Fault{};
    // In a full warp: lane 5 leaves an irregular pattern.
    for (uint32_t i = 0; i < kLanes; ++i) p.offsets[i] = 4 * (i * i % 29);
    p.offsets[5] = static_cast<uint64_t>(beside);
    fill<uint32_t>(m, p, 1);
    EXPECT_FALSE(load_global_full<uint32_t>(m.context, m.warp, operation(kResultRow, 0)));
    EXPECT_EQ(m.context.fault.lane, 5u);
  }
}

TEST(FastPaths, FullWarps) {
  const MemDesc desc = described<uint32_t>(false);
  expect_equal<uint32_t>(
      desc, operation(kResultRow, 0),
      [](Context& c, Warp& w, const Op& op, uint32_t) {
        return load_global_full<uint32_t>(c, w, op);
      },
      [](Context& c, Warp& w, const Op& op, uint32_t) {
        return load_general(c, w, op, kFullMask);
      });
}

// --- Full warps whose places are rows, as of thread blocks that are 16 or 8 wide ---------------

struct RowsOf {
  uint32_t columns;
  int64_t step, distance, start;
};
std::vector<RowsOf> rows_of_warps(int64_t bytes) {
  std::mt19937 random(3);
  std::vector<RowsOf> all;
  for (int k = 0; k < 400; ++k) {
    const auto some = [&](int64_t range) { return static_cast<int64_t>(random() % range); };
    const int64_t step = k % 3 == 0 ? 0 : k % 3 == 1 ? bytes : (some(9) - 4) * bytes;
    const RowsOf rows{k % 2 == 0 ? 16u : 8u, step, (some(400) - 100) * bytes,
                      (some(4000) + 200) * bytes};
    // Where it lies mostly stays for a while; sometimes it is misaligned, or beyond the end.
    for (int64_t again = 0; again < 3; ++again)
      all.push_back({rows.columns, rows.step, rows.distance, rows.start + again * 64});
    if (k % 10 == 0) all.push_back({rows.columns, rows.step, rows.distance, rows.start + 1});
    if (k % 10 == 1) all.push_back({rows.columns, rows.step, rows.distance, int64_t{kBytes} - 8});
    if (k % 10 == 2) all.push_back({rows.columns, rows.step, rows.distance, 16});
  }
  return all;
}

/// Loads of `U` by `fast` and by load_general(), whose addresses are of type A from `base` on.
template <class U, class A, class Fast>
void expect_equal_rows(MemSpace space, uint64_t base, Fast fast) {
  Machine a, b;
  std::vector<uint8_t> shared(kBytes);
  for (size_t i = 0; i < shared.size(); ++i) shared[i] = static_cast<uint8_t>(i * 91);
  const Op op = operation(kResultRow, 0);
  for (const RowsOf& rows : rows_of_warps(sizeof(U))) {
    bool done[2];
    for (Machine* m : {&a, &b}) {
      m->context.shared = shared.data();
      m->context.shared_bytes = kBytes;
      m->desc = described<U>(false);
      m->desc.space = space;
      m->desc.address64 = sizeof(A) == 8 ? 1 : 0;
      m->desc.lo = m->range.lo;
      m->desc.span = m->range.bytes;
      m->warp.trace_size = 0;
      m->context.fault = Fault{};
      for (uint32_t i = 0; i < kLanes; ++i)
        row<A>(m->warp.rows, kAddressRow)[i] = static_cast<A>(
            base + static_cast<uint64_t>(rows.start + rows.step * (i % rows.columns) +
                                         rows.distance * (i / rows.columns) - op.imm));
      done[m == &b] = m == &a ? fast(m->context, m->warp, op)
                              : load_general(m->context, m->warp, op, kFullMask);
    }
    ASSERT_EQ(done[0], done[1]) << rows.start;
    ASSERT_EQ(a.context.fault.address, b.context.fault.address);
    if (!done[0]) continue;
    ASSERT_EQ(a.traced(), b.traced()) << rows.columns << " " << rows.step << " " << rows.distance;
    ASSERT_EQ(a.rows, b.rows);
  }
}

TEST(FastPaths, OfRows) {
  const uint64_t global = Machine().range.lo;
  expect_equal_rows<uint32_t, uint64_t>(
      MemSpace::kGlobal, global,
      [](Context& c, Warp& w, const Op& o) { return (load_global_full<uint32_t>(c, w, o)); });
  expect_equal_rows<uint64_t, uint64_t>(
      MemSpace::kGlobal, global,
      [](Context& c, Warp& w, const Op& o) { return (load_global_full<uint64_t>(c, w, o)); });
  expect_equal_rows<uint32_t, uint32_t>(MemSpace::kShared, 0, [](Context& c, Warp& w, const Op& o) {
    return (load_shared_full<uint32_t, uint32_t>(c, w, o));
  });
  expect_equal_rows<uint64_t, uint32_t>(MemSpace::kShared, 0, [](Context& c, Warp& w, const Op& o) {
    return (load_shared_full<uint64_t, uint32_t>(c, w, o));
  });
  expect_equal_rows<uint32_t, uint64_t>(MemSpace::kShared, 0, [](Context& c, Warp& w, const Op& o) {
    return (load_shared_full<uint32_t, uint64_t>(c, w, o));
  });
}

}  // namespace
}  // namespace nearwarp::exec
