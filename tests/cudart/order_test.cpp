// Do recordings of applications say which launches wait for which, as CUDA's rules have it?
#include <thread>

#include "host/functional/cudart/streams/graphs.h"
#include "tests/cudart/library.h"
#include "tests/cudart/recorded_order.h"

namespace nearwarp::cudart {
namespace {

class OrderTest : public RecordedOrder {
 protected:
  void SetUp() override {
    lib.register_kernels();
    call("cudaMalloc", &memory_, size_t{4096});
    call("cudaStreamCreateWithFlags", &a, 0u);
    call("cudaStreamCreateWithFlags", &b, 0u);
    call("cudaStreamCreateWithFlags", &free, 1u);
    call("cudaEventCreate", &event);
    call("cudaDeviceSynchronize");
    begin();
  }

  template <class... Args>
  void call(const std::string& name, Args... args) {
    ASSERT_EQ(lib.call(name, args...), kSuccess) << name;
  }
  void launch(void* stream, const std::string& name = "cudaLaunchKernel") {
    void* args[] = {&memory_};
    call(name, lib.stub("fill_shared"), Dim{1, 1, 1}, Dim{32, 1, 1}, static_cast<void**>(args),
         size_t{128}, static_cast<Stream>(stream));
  }
  /// Launches a kernel that is not recorded.
  void launch_another(void* stream) {
    int n = 32;
    void* args[] = {&memory_, &memory_, &memory_, &n};
    call("cudaLaunchKernel", lib.stub("vector_add"), Dim{1, 1, 1}, Dim{32, 1, 1},
         static_cast<void**>(args), size_t{0}, static_cast<Stream>(stream));
  }
  GraphNode* node(Graph* graph, std::vector<GraphNode*> after) {
    void* args[] = {&memory_};
    KernelNodeParams p{
        const_cast<void*>(lib.stub("fill_shared")), {1, 1, 1}, {32, 1, 1}, 128, args, nullptr};
    GraphNode* made = nullptr;
    call("cudaGraphAddKernelNode", &made, graph, static_cast<GraphNode* const*>(after.data()),
         after.size(), static_cast<const KernelNodeParams*>(&p));
    return made;
  }
  GraphExec* instantiate(Graph* graph) {
    GraphExec* exec = nullptr;
    call("cudaGraphInstantiate", &exec, graph, 0ull);
    return exec;
  }

  Library& lib = Library::get();
  void *a = nullptr, *b = nullptr, *free = nullptr;  ///< streams; the last one is non-blocking
  void* event = nullptr;
  static constexpr void* kDefaultStream = nullptr;

 private:
  void* memory_ = nullptr;
};

TEST_F(OrderTest, StreamsAreIndependent) {
  for (int i = 0; i < 2; ++i)
    for (void* stream : {a, b, free}) launch(stream);
  EXPECT_EQ(order(), (std::vector<Indices>{{}, {}, {}, {0}, {1}, {2}}));
  const auto all = launches();
  EXPECT_EQ(all[0].stream, all[3].stream);
  EXPECT_NE(all[0].stream, all[1].stream);
  EXPECT_NE(all[0].stream, 0u);
}

TEST_F(OrderTest, OneStreamHasNoLists) {
  for (int i = 0; i < 4; ++i) launch(kDefaultStream);
  for (const auto& l : launches()) {
    EXPECT_TRUE(l.after_all);
    EXPECT_TRUE(l.after.empty());
    EXPECT_EQ(l.stream, 0u);
  }
}

TEST_F(OrderTest, TheDefaultStreamIsInOrderWithBlockingStreams) {
  for (void* stream : {a, b, free, kDefaultStream, free, a, b}) launch(stream);
  EXPECT_EQ(order(), (std::vector<Indices>{{}, {}, {}, {0, 1}, {2}, {3}, {3}}));
}

TEST_F(OrderTest, EventsOrderStreams) {
  launch(a);  // 0
  call("cudaEventRecord", event, Stream{a});
  launch(a);  // 1
  call("cudaStreamWaitEvent", Stream{b}, event, 0u);
  launch(b);  // 2: after 0
  call("cudaEventRecord", event, Stream{b});
  call("cudaStreamWaitEvent", Stream{free}, event, 0u);
  launch(free);  // 3: after 2
  launch(a);     // 4: after 1
  EXPECT_EQ(order(), (std::vector<Indices>{{}, {0}, {0}, {2}, {1}}));
  call("cudaStreamWaitEvent", Stream{nullptr}, event, 0u);
  launch(kDefaultStream);
  EXPECT_EQ(order().back(), (Indices{2, 4}));
}

TEST_F(OrderTest, TheHostWaits) {
  launch(a);  // 0
  launch(b);  // 1
  call("cudaStreamSynchronize", Stream{a});
  launch(free);  // 2
  call("cudaEventRecord", event, Stream{b});
  launch(b);  // 3
  call("cudaEventSynchronize", event);
  launch(free);  // 4
  call("cudaStreamQuery", Stream{b});
  launch(a);  // 5
  EXPECT_EQ(order(), (std::vector<Indices>{{}, {}, {0}, {0, 1}, {1, 2}, {3}}));
  call("cudaDeviceSynchronize");
  launch(b);
  EXPECT_EQ(order().back(), (Indices{4, 5}));
}

TEST_F(OrderTest, CopiesThatTheHostWaitsFor) {
  char pageable[64] = {};
  void *pinned = nullptr, *device = nullptr;
  call("cudaMallocHost", &pinned, size_t{64});
  call("cudaMalloc", &device, size_t{64});
  launch(a);  // 0
  call("cudaMemcpyAsync", device, static_cast<const void*>(pinned), size_t{64}, int{kHostToDevice},
       Stream{a});
  call("cudaMemsetAsync", device, 0, size_t{64}, Stream{a});
  launch(free);  // 1
  call("cudaMemcpyAsync", static_cast<void*>(pageable), static_cast<const void*>(device),
       size_t{64}, int{kDeviceToHost}, Stream{a});
  launch(free);  // 2: the host has waited for 0
  launch(b);     // 3
  call("cudaMemcpy", device, static_cast<const void*>(pinned), size_t{64}, int{kHostToDevice});
  launch(free);  // 4: for 3, too
  void* more = nullptr;
  launch(a);  // 5
  call("cudaMalloc", &more, size_t{64});
  launch(free);  // 6
  EXPECT_EQ(order(), (std::vector<Indices>{{}, {}, {0, 1}, {0}, {2, 3}, {3}, {4, 5}}));
}

TEST_F(OrderTest, WhatIsNotRecordedPassesItsOrderOn) {
  launch(a);  // 0
  launch_another(a);
  call("cudaEventRecord", event, Stream{a});
  call("cudaStreamWaitEvent", Stream{b}, event, 0u);
  launch_another(b);
  launch(b);     // 1
  launch(free);  // 2
  EXPECT_EQ(order(), (std::vector<Indices>{{}, {0}, {}}));
}

TEST_F(OrderTest, ThreadsHaveDefaultStreamsOfTheirOwn) {
  launch(kDefaultStream, "cudaLaunchKernel_ptsz");  // 0
  std::thread([&] {
    launch(kDefaultStream, "cudaLaunchKernel_ptsz");    // 1
    launch(reinterpret_cast<void*>(kStreamPerThread));  // 2
    call("cudaStreamSynchronize_ptsz", Stream{nullptr});
  }).join();
  launch(free);                                     // 3: after 2
  launch(kDefaultStream, "cudaLaunchKernel_ptsz");  // 4
  launch(kDefaultStream);                           // 5: the legacy one
  launch(kDefaultStream, "cudaLaunchKernel_ptsz");  // 6
  EXPECT_EQ(order(), (std::vector<Indices>{{}, {}, {1}, {2}, {0, 2}, {4}, {5}}));
}

TEST_F(OrderTest, GraphsForkAndJoin) {
  Graph *graph = nullptr, *child = nullptr;
  call("cudaGraphCreate", &child, 0u);
  node(child, {});
  node(child, {});
  call("cudaGraphCreate", &graph, 0u);
  GraphNode *const root = node(graph, {}), *left = node(graph, {root}), *inner = nullptr;
  GraphNode* const on_root[] = {root};
  call("cudaGraphAddChildGraphNode", &inner, graph, static_cast<GraphNode* const*>(on_root),
       size_t{1}, child);
  node(graph, {left, inner});
  node(graph, {root});  // a leaf
  GraphExec* const exec = instantiate(graph);

  launch(a);  // 0
  call("cudaGraphLaunch", exec, Stream{a});
  // In the order of creation: 1 the root, 2 left, 3 and 4 the child's, 5 the join, 6 the leaf.
  launch(free);  // 7
  launch(a);     // 8
  EXPECT_EQ(order(), (std::vector<Indices>{{}, {0}, {1}, {1}, {1}, {2, 3, 4}, {1}, {}, {5, 6}}));
  call("cudaGraphLaunch", exec, Stream{free});  // never beside itself
  EXPECT_EQ(order().at(9), (Indices{5, 6, 7}));
}

TEST_F(OrderTest, CapturedEventsAreEdges) {
  call("cudaStreamBeginCapture", Stream{a}, 0);
  launch(a);
  call("cudaEventRecord", event, Stream{a});
  call("cudaStreamWaitEvent", Stream{b}, event, 0u);
  launch(b);
  launch(a);
  call("cudaEventRecord", event, Stream{b});
  call("cudaStreamWaitEvent", Stream{a}, event, 0u);
  launch(a);
  Graph* graph = nullptr;
  call("cudaStreamEndCapture", Stream{a}, &graph);
  GraphExec* const exec = instantiate(graph);
  EXPECT_TRUE(order().empty());
  call("cudaGraphLaunch", exec, Stream{a});
  launch(b);
  EXPECT_EQ(order(), (std::vector<Indices>{{}, {0}, {0}, {1, 2}, {}}));
}

TEST_F(OrderTest, EventNodesJoinStreamsAndGraphs) {
  Graph* graph = nullptr;
  call("cudaGraphCreate", &graph, 0u);
  GraphNode *wait = nullptr, *record = nullptr;
  void* recorded = nullptr;
  call("cudaEventCreate", &recorded);
  GraphNode* const* const none = nullptr;
  call("cudaGraphAddEventWaitNode", &wait, graph, none, size_t{0}, event);
  GraphNode* const on_record[] = {node(graph, {wait})};
  call("cudaGraphAddEventRecordNode", &record, graph, static_cast<GraphNode* const*>(on_record),
       size_t{1}, recorded);
  node(graph, {});
  GraphExec* const exec = instantiate(graph);
  launch(b);  // 0
  call("cudaEventRecord", event, Stream{b});
  call("cudaGraphLaunch", exec, Stream{a});  // in the order of readiness
  call("cudaStreamWaitEvent", Stream{free}, recorded, 0u);
  launch(free);
  const auto all = order();
  ASSERT_EQ(all.size(), 4u);
  const bool first_waits = !all[1].empty();
  EXPECT_EQ(all[first_waits ? 1 : 2], (Indices{0}));
  EXPECT_EQ(all[first_waits ? 2 : 1], (Indices{}));
  EXPECT_EQ(all[3], (Indices{first_waits ? 1u : 2u}));
}

}  // namespace
}  // namespace nearwarp::cudart
