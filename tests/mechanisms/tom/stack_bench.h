// A stack SM whose warps all execute one candidate.
#pragma once

#include "tests/mechanisms/tom/offload_bench.h"

namespace nearwarp::testing {

/// `kWords`: words of the SM's warp sets.
template <uint32_t kWords>
struct StackBenchOf : SmBenchOf<kWords> {
  using SmBenchOf<kWords>::network;
  using SmBenchOf<kWords>::offload;
  using SmBenchOf<kWords>::params;
  using SmBenchOf<kWords>::program;
  using SmBenchOf<kWords>::rig;
  using SmBenchOf<kWords>::run_logged;
  using SmBenchOf<kWords>::state;
  using SmBenchOf<kWords>::traces;
  uint32_t head, body = 0, tail = 0;

  explicit StackBenchOf(const std::vector<sm::ImageInstr>& in, uint32_t live_out_bytes = 8) {
    params.in_stack = true;
    offload.enabled = true;
    head = program.block({alu(0, {})});
    body = program.block(in, 1);
    tail = program.block({alu(9, {})});
    tom::Candidate properties;
    properties.live_out_bytes = static_cast<uint16_t>(live_out_bytes);
    program.candidate({body}, properties);
    program.launch(1, 1);
    traces.begin_block();
    traces.warp();
  }
  /// A request for the candidate as warp `warp` of SM 3 would send it, arriving at tick `at`.
  void request(Tick at, uint32_t warp = 5) {
    Packet p;
    p.kind = tom::kOffloadRequest;
    p.src = endpoint_of(kSmEndpoint);
    p.dst = endpoint_of(kStackSmEndpoint);
    p.tag = warp;
    p.line = 0;
    tom::pack_cursor(find_candidate(program, traces, 0, 0), p);
    network->send_at(at - kLatency, p);
  }
  /// Run; the log's cycle 0 is tick 4, when a request sent with request(4) arrives.
  void go(Tick end = 600) {
    run_logged(end);
    EXPECT_EQ(state().free_warps, WarpSet<kWords>::lowest(params.num_warps));
    EXPECT_TRUE(rig.drained());
  }
  std::vector<MockMemory::Item> acks() const { return network->of(tom::kOffloadAck); }
};

}  // namespace nearwarp::testing
