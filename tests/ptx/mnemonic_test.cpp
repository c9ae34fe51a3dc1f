// Are the modifiers of mnemonics understood, and unknown ones named?
#include "host/functional/ptx/mnemonic.h"

#include <gtest/gtest.h>

namespace nearwarp::ptx {
namespace {

Mnemonic decode(const char* text) {
  Mnemonic m = decode_mnemonic(text);
  EXPECT_EQ(m.problem, "") << text;
  return m;
}

TEST(Mnemonic, Modifiers) {
  EXPECT_EQ(decode("mad.wide.s32").mod.mul_part, MulPart::kWide);
  EXPECT_TRUE(decode("add.cc.u32").mod.carry_out);
  EXPECT_TRUE(decode("add.rz.ftz.sat.f32").mod.saturate);
  EXPECT_EQ(decode("add.rz.ftz.sat.f32").mod.rounding, Rounding::kRz);
  EXPECT_TRUE(decode("div.full.ftz.f32").mod.full);
  EXPECT_TRUE(decode("div.approx.f32").mod.approx);
  EXPECT_FALSE(decode("div.approx.f32").mod.full);
  EXPECT_EQ(decode("setp.geu.and.f64").mod.compare, Compare::kGeu);
  EXPECT_EQ(decode("setp.geu.and.f64").mod.bool_op, BoolOp::kAnd);
  EXPECT_EQ(decode("setp.hi.u32").mod.compare, Compare::kHi);
  EXPECT_EQ(decode("set.lt.u32.f32").mod.src_type, Type::kF32);
  EXPECT_EQ(decode("cvt.rzi.s64.f32").mod.rounding, Rounding::kRzi);
  EXPECT_EQ(decode("cvt.rzi.s64.f32").mod.type, Type::kS64);
  EXPECT_EQ(decode("cvt.rn.f16.f32").mod.type, Type::kF16);
  EXPECT_EQ(decode("ld.global.nc.L1::no_allocate.L2::128B.v4.f32").mod.vector, 4);
  EXPECT_TRUE(decode("ld.global.nc.v2.u32").mod.non_coherent);
  EXPECT_TRUE(decode("ld.acquire.gpu.global.u32").mod.ordered);
  EXPECT_TRUE(decode("ld.volatile.shared.u32").mod.is_volatile);
  EXPECT_EQ(decode("ld.u32").mod.space, Space::kGeneric);
  EXPECT_EQ(decode("st.shared::cta.u8").mod.space, Space::kShared);
  EXPECT_EQ(decode("atom.acq_rel.gpu.global.cas.b64").mod.atomic, AtomicOp::kCas);
  EXPECT_EQ(decode("atom.acq_rel.gpu.global.cas.b64").operands, "DAaa");
  EXPECT_EQ(decode("red.global.add.f32").op, Opcode::kRed);
  EXPECT_EQ(decode("shfl.sync.bfly.b32").mod.shfl, ShflMode::kBfly);
  EXPECT_EQ(decode("vote.sync.ballot.b32").mod.vote, VoteMode::kBallot);
  EXPECT_EQ(decode("vote.ballot.sync.b32").mod.vote, VoteMode::kBallot);
  EXPECT_EQ(decode("match.any.sync.b64").mod.vote, VoteMode::kAny);
  EXPECT_EQ(decode("redux.sync.max.s32").mod.atomic, AtomicOp::kMax);
  EXPECT_EQ(decode("bar.warp.sync").op, Opcode::kBarWarp);
  EXPECT_EQ(decode("barrier.sync.aligned").op, Opcode::kBar);
  EXPECT_EQ(decode("bar.arrive").mod.bar_arrive, 1);
  EXPECT_EQ(decode("bar.red.popc.u32").op, Opcode::kBarRed);
  EXPECT_EQ(decode("barrier.cta.red.or.aligned.pred").mod.bool_op, BoolOp::kOr);
  EXPECT_EQ(decode("shf.l.wrap.b32").mod.shf_left, 1);
  EXPECT_EQ(decode("shf.r.clamp.b32").mod.mode, 0);
  EXPECT_EQ(decode("prmt.b32.rc16").mod.mode, 6);
  EXPECT_EQ(decode("dp2a.hi.s32.u32").mod.mode, 1);
  EXPECT_EQ(decode("dp4a.u32.s32").mod.src_type, Type::kS32);
  EXPECT_TRUE(decode("bfind.shiftamt.u32").mod.shift_amount);
  EXPECT_TRUE(decode("max.NaN.f32").mod.relu_nan);
  EXPECT_TRUE(decode("cvta.to.global.u64").mod.to_space);
  EXPECT_TRUE(decode("bra.uni").mod.uniform);
  EXPECT_EQ(decode("fence.acq_rel.gpu").op, Opcode::kMembar);
  EXPECT_EQ(decode("membar.gl").op, Opcode::kMembar);
  EXPECT_EQ(decode("prefetch.global.L2::evict_last").op, Opcode::kPrefetch);
  EXPECT_EQ(decode("testp.finite.f32").mod.testp, Testp::kFinite);
}

TEST(Mnemonic, WhatIsUnsupportedIsNamed) {
  for (const char* text :
       {"tex.2dms.v4.f32.s32",
        "wmma.load.a.sync.aligned.row.m8n8k32.s4",
        "mma.sync.aligned.m16n8k32.row.col.f32.e3m2.e2m3.f32",
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue4m3",
        "mma.sp.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m3.e2m1.f32",
        "mma.sync.aligned.m8n8k16.row.col.f32.e4m3.e4m3.f32",
        "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32.xor.popc",
        "mma.sync.aligned.m8n8k128.row.col.satfinite.s32.b1.b1.s32.xor.popc",
        "wgmma.mma_async.sp.sync.aligned.m64n8k512.s32.b1.b1.and.popc",
        "ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8",
        "ldmatrix.sync.aligned.m8n16.x1.shared.b8",
        "stmatrix.sync.aligned.m16n8.x4.shared.b8",
        "cvt.rs.e4m3x4.f32",
        "cvt.satfinite",
        "redux.sync.inc.u32",
        "redux.sync.cas.b32",
        "div.f16x2",
        "div.rn.f32x2",
        "rcp.rn.bf16",
        "add.ballot.u32",
        "add",
        "mul.s32",
        "mul.wide.s64",
        "mul.lo.f32",
        "setp.u32",
        "ld.v4.f64",
        "ld.global.v8.f64",
        "ld.shared.v8.f32",
        "st.global.v8.u16",
        "and.b128",
        "add.u32.u32",
        "add.rn.rz.f32",
        "cvta.u64",
        "atom.global.u32",
        "shfl.sync.b32",
        "vote.sync.ballot.pred",
        "foo",
        "",
        "ld..u32",
        "add.",
        "cp.async.bulk.shared::cluster.global",
        "cp.async.bulk.tensor.3d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes",
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::scatter4.mbarrier::complete_tx::bytes",
        "cp.async.bulk.global.shared::cta.bulk_group.multicast::cluster",
        "bar.red.u32",
        "sub.u8",
        "and.u32",
        "red.global.cas.b128",
        "fence.quickly",
        "shl.s32",
        "ld.global"}) {
    EXPECT_NE(decode_mnemonic(text).problem, "") << text;
  }
}

TEST(Mnemonic, SpellingDecodesToTheSame) {
  for (const char* text : {"add.s32",
                           "add.rn.ftz.f32",
                           "mad.wide.u16",
                           "mul.hi.u64",
                           "div.approx.ftz.f32",
                           "setp.lt.and.s32",
                           "set.gt.u32.f32",
                           "selp.b64",
                           "slct.s32.f32",
                           "cvt.rzi.s32.f32",
                           "cvt.sat.f32.f32",
                           "cvta.to.shared.u64",
                           "cvta.local.u64",
                           "ld.global.nc.v4.f32",
                           "ld.volatile.shared.u32",
                           "st.local.v2.b64",
                           "atom.shared.cas.b32",
                           "red.global.add.f64",
                           "shfl.sync.up.b32",
                           "vote.sync.all.pred",
                           "match.sync.any.b32",
                           "redux.sync.min.u32",
                           "bar.sync",
                           "bar.arrive",
                           "bar.red.popc.u32",
                           "bar.red.and.pred",
                           "bar.warp.sync",
                           "bar.cluster.arrive",
                           "bar.cluster.arrive.relaxed",
                           "bar.cluster.wait",
                           "ld.global.b128",
                           "atom.global.exch.b128",
                           "shf.l.clamp.b32",
                           "shf.r.wrap.b32",
                           "prmt.b32",
                           "prmt.b32.ecl",
                           "dp4a.u32.s32",
                           "dp2a.hi.s32.s32",
                           "bfind.shiftamt.s64",
                           "bmsk.wrap.b32",
                           "min.NaN.f32",
                           "bra.uni",
                           "brx.idx",
                           "membar.gl",
                           "isspacep.global",
                           "elect.sync",
                           "activemask.b32",
                           "nanosleep.u32",
                           "testp.normal.f32",
                           "lop3.b32",
                           "addc.cc.u32",
                           "madc.hi.cc.u32",
                           "sqrt.rn.f64"}) {
    const Mnemonic m = decode(text);
    EXPECT_EQ(spell(m.op, m.mod), text);
  }
}

TEST(Mnemonic, SpecialRegisters) {
  SpecialReg reg;
  for (int i = 0; i <= static_cast<int>(SpecialReg::kIsExplicitCluster); ++i) {
    const auto expected = static_cast<SpecialReg>(i);
    ASSERT_TRUE(special_by_name(name_of(expected), &reg));
    EXPECT_EQ(reg, expected);
  }
  EXPECT_EQ(name_of(SpecialReg::kNctaidZ), "%nctaid.z");
  EXPECT_EQ(name_of(SpecialReg::kLanemaskGt), "%lanemask_gt");
  EXPECT_FALSE(special_by_name("%tid.w", &reg));
  EXPECT_TRUE(is_unsupported_special("%pm0"));
  ASSERT_TRUE(special_by_name("%cluster_nctaid.y", &reg));
  EXPECT_EQ(reg, SpecialReg::kClusterNctaidY);
  EXPECT_FALSE(special_by_name("%clusterid.w", &reg));
  ASSERT_TRUE(special_by_name("%envreg7", &reg));
  EXPECT_EQ(reg, SpecialReg::kZero);
  EXPECT_FALSE(is_unsupported_special("%r1"));
}

}  // namespace
}  // namespace nearwarp::ptx
