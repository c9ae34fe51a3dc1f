// Mnemonics of asynchronous copies and of mbarriers.
#include "host/functional/ptx/details.h"
#include "host/functional/ptx/mnemonic_families.h"

namespace nearwarp::ptx {
namespace {

// Reads the words behind cp.async.bulk; false if they are not supported.
bool bulk_copy(WordList* words, Mnemonic* out) {
  const bool commits = take(words, "commit_group");
  if (commits || take(words, "wait_group")) {
    const CopyGroup group = commits               ? CopyGroup::kBulkCommit
                            : take(words, "read") ? CopyGroup::kBulkWaitRead
                                                  : CopyGroup::kBulkWait;
    out->mod.detail = static_cast<uint32_t>(group);
    out->operands = commits ? "" : "u";
    return true;
  }
  if (take(words, "prefetch")) {
    const bool tensor = take(words, "tensor"), hint = take(words, "L2::cache_hint");
    bool offsets = false;
    if (tensor) {
      const bool one = take(words, "1d"), two = take(words, "2d"),
                 gathers = take(words, "tile::gather4");
      drop(words, {"3d", "4d", "5d", "tile"});
      for (const char* mode : {"im2col", "im2col::w", "im2col::w::128"})
        offsets = take(words, mode) || offsets;
      if ((offsets && (one || two)) || (gathers && !two)) {
        out->problem = "this form of cp.async.bulk.prefetch.tensor is not supported";
        return false;
      }
    }
    drop(words, {"L2", "global"});
    out->operands = !tensor ? "Au?h" : offsets ? (hint ? "Xyh" : "Xy") : (hint ? "Xh" : "X");
    return true;
  }
  if (take(words, "tensor")) return tensor_copy(words, false, out);
  const bool by_barrier = take(words, "mbarrier::complete_tx::bytes");
  const bool by_group = take(words, "bulk_group"), global = take(words, "global");
  const bool multicast = take(words, "multicast::cluster");
  const bool has_mask = take(words, "cp_mask");
  drop(words, {"shared::cluster", "shared::cta"});
  if (by_barrier == by_group || (by_group && !global) || (multicast && (by_group || !global)) ||
      has_mask) {
    out->problem = has_mask ? ".cp_mask belongs to Blackwell and is not supported"
                            : "this form of cp.async.bulk is not supported";
    return false;
  }
  const BulkCopy which = by_group ? BulkCopy::kToGlobal
                         : global ? BulkCopy::kFromGlobal
                                  : BulkCopy::kToCluster;
  out->op = Opcode::kCpAsync;
  out->mod.mode = static_cast<uint8_t>(which);
  out->mod.cache_hint = take(words, "L2::cache_hint");
  out->mod.type = Type::kB32;
  out->operands = by_group ? "AAu?h" : "AAuA?h";
  if (multicast) {  // as a tensor of no dimensions
    TensorDetail d;
    d.multicast = true;
    out->mod.detail = d.pack();
    out->mod.mode = static_cast<uint8_t>(BulkCopy::kTensorLoad);
    out->mod.space = Space::kShared;
    out->operands = "AAuAu?h";
  }
  return true;
}

}  // namespace

// cp.async.{ca,cg}.shared.global, cp.async.commit_group, wait_group, wait_all
void asynchronous_copy(WordList words, Mnemonic* out) {
  if (!take(&words, "async")) {
    out->problem = "the instruction is not supported";
    return;
  }
  out->op = Opcode::kNop;
  const auto group = [out](CopyGroup op) { out->mod.detail = static_cast<uint32_t>(op); };
  if (take(&words, "bulk")) {
    if (!bulk_copy(&words, out)) return;
  } else if (take(&words, "commit_group")) {
    out->operands = "";
    group(CopyGroup::kCommit);
  } else if (take(&words, "wait_all")) {
    out->operands = "";
    group(CopyGroup::kWaitAll);
  } else if (take(&words, "wait_group")) {
    out->operands = "u";
    group(CopyGroup::kWaitGroup);
  } else if (take(&words, "mbarrier")) {
    // The copies are done: without .noinc, what is added to the count is taken off at once.
    const bool counts = take(&words, "noinc");
    drop(&words, {"arrive", "b64"});
    take_space(&words, &out->mod);
    out->operands = "A";
    out->mod.type = Type::kB64;
    if (counts) {
      out->op = Opcode::kMbarrier;
      out->mod.detail = static_cast<uint32_t>(MbarrierOp::kCopiesArrive);
    } else {
      group(CopyGroup::kWaitAll);
    }
  } else {
    out->op = Opcode::kCpAsync;
    out->mod.cache_hint = take(&words, "L2::cache_hint");
    out->operands = out->mod.cache_hint ? "AAu?uh" : "AAu?u";
    const bool past_l1 = take(&words, "cg");
    out->mod.detail = static_cast<uint32_t>(past_l1 ? CopyCache::kPastL1 : CopyCache::kAll);
    drop(&words, {"ca", "shared", "shared::cta", "global", "L2::64B", "L2::128B", "L2::256B"});
    out->mod.type = Type::kB32;
  }
  finish(words, out);
}

void mbarrier(WordList words, Mnemonic* out) {
  MbarrierOp op = MbarrierOp::kNone;
  out->op = Opcode::kMbarrier;
  const bool parity = take(&words, "parity");
  if (take(&words, "init")) {
    op = MbarrierOp::kInit;
    out->operands = "Au";
  } else if (take(&words, "inval")) {
    op = MbarrierOp::kInval;
    out->operands = "A";
  } else if (take(&words, "arrive")) {
    op = take(&words, "expect_tx") ? MbarrierOp::kArriveExpect : MbarrierOp::kArrive;
    out->operands = "YA?u";
  } else if (take(&words, "arrive_drop")) {
    op = take(&words, "expect_tx") ? MbarrierOp::kDropExpect : MbarrierOp::kDrop;
    out->operands = "YA?u";
  } else if (take(&words, "expect_tx")) {
    op = MbarrierOp::kExpect;
    out->operands = "Au";
  } else if (take(&words, "complete_tx")) {
    op = MbarrierOp::kComplete;
    out->operands = "Au";
  } else if (take(&words, "pending_count")) {
    op = MbarrierOp::kPendingCount;
    out->operands = "Yy";
  } else if (take(&words, "test_wait")) {
    op = MbarrierOp::kTestWait;
    out->operands = "YAy";
  } else if (take(&words, "try_wait")) {
    op = MbarrierOp::kTryWait;
    out->operands = "YAy?y";
  } else {
    out->problem = "this mbarrier instruction is not supported";
    return;
  }
  drop(&words, {"noComplete", "release", "acquire", "relaxed", "cta", "cluster"});
  take_space(&words, &out->mod);
  drop(&words, {"b64"});
  out->mod.type = Type::kB64;
  out->mod.mode = parity;
  out->mod.detail = static_cast<uint32_t>(op);
  finish(words, out);
}

}  // namespace nearwarp::ptx
