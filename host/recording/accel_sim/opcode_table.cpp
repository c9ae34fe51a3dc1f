// SASS opcodes and what the timing model distinguishes of them.
//
// Source: the instruction sets of Volta to Hopper in NVIDIA's "CUDA Binary Utilities", section 4;
// opcodes of Pascal and before that traces contain as well. Moves, which PTX has more of than
// machine code, count as selections: they are always charged.
#include "host/recording/accel_sim/opcode_table.h"

#include <algorithm>
#include <array>
#include <vector>

namespace nearwarp::sass {
namespace {

using C = OpcodeClass;
using O = ptx::Opcode;
using T = ptx::Type;

/// Opcodes that are treated alike.
struct Group {
  C opcode_class;
  O op;
  T type;
  std::string_view names;  ///< separated by spaces
};

constexpr Group kGroups[] = {
    {C::kFp32, O::kAdd, T::kF32, "FADD FADD32I FSEL FSWZADD"},
    {C::kFp32, O::kMul, T::kF32, "FMUL FMUL32I"},
    {C::kFp32, O::kFma, T::kF32, "FFMA FFMA32I"},
    {C::kFp32, O::kMin, T::kF32, "FMNMX FMNMX3"},
    {C::kFp32, O::kSetp, T::kF32, "FSET FSETP FCHK FCMP"},
    {C::kFp16, O::kAdd, T::kF16x2, "HADD2 HADD2_32I"},
    {C::kFp16, O::kMul, T::kF16x2, "HMUL2 HMUL2_32I"},
    {C::kFp16, O::kFma, T::kF16x2, "HFMA2 HFMA2_32I"},
    {C::kFp16, O::kMin, T::kF16x2, "HMNMX2"},
    {C::kFp16, O::kSetp, T::kF16x2, "HSET2 HSETP2"},
    {C::kFp64, O::kAdd, T::kF64, "DADD"},
    {C::kFp64, O::kMul, T::kF64, "DMUL"},
    {C::kFp64, O::kFma, T::kF64, "DFMA"},
    {C::kFp64, O::kMin, T::kF64, "DMNMX"},
    {C::kFp64, O::kSetp, T::kF64, "DSET DSETP"},
    {C::kTensor, O::kMma, T::kF32, "HMMA QMMA OMMA HGMMA QGMMA"},
    {C::kTensor, O::kMma, T::kS32, "IMMA BMMA IGMMA BGMMA"},
    {C::kTensor, O::kMma, T::kF64, "DMMA"},
    {C::kSpecial, O::kRcp, T::kF32, "MUFU RRO"},
    {C::kInteger, O::kAdd, T::kS32,
     "IADD IADD3 IADD32I IABS LEA ISCADD ISCADD32I VIADD LOP LOP3 LOP32I SHF SHL SHR BMSK BREV FLO "
     "POPC BFE BFI SGXT"},
    {C::kInteger, O::kMin, T::kS32, "IMNMX VIMNMX VIMNMX3 VIADDMNMX VABSDIFF VABSDIFF4"},
    {C::kInteger, O::kSetp, T::kS32, "ISETP ISET ICMP"},
    {C::kInteger, O::kMul, T::kS32, "IMUL IMUL32I"},
    {C::kInteger, O::kMad, T::kS32, "IMAD IMAD32I XMAD IDP IDP4A"},
    {C::kConvert, O::kCvt, T::kF32, "F2F F2FP F2I F2IP I2F I2FP I2I I2IP FRND"},
    {C::kMove, O::kSelp, T::kB32,
     "MOV MOV32I MOVM SEL PRMT P2R R2P PSETP PSET PLOP3 S2R CS2R B2R R2B LEPC CSMTEST CSETP "
     "GETLMEMBASE SETLMEMBASE SETCTAID QSPC BMOV RPCMOV"},
    {C::kWarp, O::kShfl, T::kB32, "SHFL VOTE MATCH REDUX"},
    {C::kUniform, O::kSelp, T::kB32,
     "R2UR S2UR UBMSK UBREV UCLEA UF2FP UFLO UIADD3 UIMNMX UISETP ULEA ULOP ULOP3 ULOP32I UMOV "
     "UP2UR "
     "UPLOP3 UPOPC UPRMT UPSETP UR2UP USEL USGXT USHF USHL USHR VOTEU CREDUX"},
    {C::kUniform, O::kMad, T::kS32, "UIMAD"},
    {C::kConstant, O::kLd, T::kB32, "LDC LDCU ULDC"},
    {C::kGlobal, O::kLd, T::kB32, "LDG LDGSTS"},
    {C::kGlobal, O::kSt, T::kB32, "STG"},
    {C::kGlobal, O::kAtom, T::kB32, "ATOMG"},
    {C::kGlobal, O::kRed, T::kB32, "RED REDG"},
    {C::kShared, O::kLd, T::kB32, "LDS LDSM"},
    {C::kShared, O::kSt, T::kB32, "STS STSM"},
    {C::kShared, O::kAtom, T::kB32, "ATOMS"},
    {C::kShared, O::kRed, T::kB32, "REDS"},
    {C::kLocal, O::kLd, T::kB32, "LDL"},
    {C::kLocal, O::kSt, T::kB32, "STL"},
    {C::kGeneric, O::kLd, T::kB32, "LD"},
    {C::kGeneric, O::kSt, T::kB32, "ST"},
    {C::kGeneric, O::kAtom, T::kB32, "ATOM"},
    {C::kTexture, O::kLd, T::kB32,
     "TEX TEXS TLD TLDS TLD4 TLD4S TMML TXD TXQ SULD SUST SUATOM SURED SUQUERY"},
    {C::kBulkCopy, O::kNop, T::kB32,
     "UBLKCP UBLKPF UBLKRED UTMALDG UTMASTG UTMAPF UTMAREDG UTMACCTL UTMACMDFLUSH"},
    {C::kBarrier, O::kBar, T::kB32, "BAR"},
    {C::kFence, O::kMembar, T::kB32, "MEMBAR FENCE DEPBAR"},
    {C::kBranch, O::kBra, T::kB32, "BRA BRX BRXU JMP JMX JMXU CALL RET JCAL PRET BRK CONT SYNC"},
    {C::kControl, O::kExit, T::kB32, "EXIT"},
    {C::kControl, O::kNop, T::kB32,
     "NOP BSSY BSYNC BREAK BPT KILL RTT WARPSYNC YIELD NANOSLEEP ELECT CCTL CCTLL CCTLT ERRBAR "
     "LDGDEPBAR USETMAXREG PMTRIG VOTE_VTG SSY PBK PCNT PREEXIT ENDCOLLECTIVE"},
    {C::kAsync, O::kNop, T::kB32,
     "SYNCS ARRIVES ACQBULK CGAERRBAR UCGABAR_ARV UCGABAR_WAIT WARPGROUP"},
};

std::vector<OpcodeInfo> make_table() {
  std::vector<OpcodeInfo> table;
  for (const Group& group : kGroups) {
    std::string_view names = group.names;
    while (!names.empty()) {
      const size_t n = std::min(names.find(' '), names.size());
      table.push_back({names.substr(0, n), group.opcode_class, group.op, group.type});
      names.remove_prefix(std::min(n + 1, names.size()));
    }
  }
  std::sort(table.begin(), table.end(),
            [](const OpcodeInfo& a, const OpcodeInfo& b) { return a.name < b.name; });
  return table;
}

}  // namespace

std::string_view class_name(OpcodeClass c) {
  constexpr std::array<std::string_view, kNumOpcodeClasses> kNames = {
      "integer",       "fp32",          "fp16",          "fp64",          "tensor",
      "special",       "conversion",    "move",          "shuffle, vote", "uniform",
      "constant load", "global memory", "shared memory", "local memory",  "generic memory",
      "texture",       "bulk copy",     "barrier",       "fence",         "branch",
      "control",       "asynchronous",  "unknown"};
  return kNames[static_cast<size_t>(c)];
}

const OpcodeInfo* find_opcode(std::string_view name) {
  static const std::vector<OpcodeInfo> table = make_table();
  const auto it = std::lower_bound(
      table.begin(), table.end(), name,
      [](const OpcodeInfo& row, std::string_view wanted) { return row.name < wanted; });
  return it != table.end() && it->name == name ? &*it : nullptr;
}

bool is_memory(OpcodeClass c) {
  return c == C::kGlobal || c == C::kShared || c == C::kLocal || c == C::kGeneric;
}

}  // namespace nearwarp::sass
