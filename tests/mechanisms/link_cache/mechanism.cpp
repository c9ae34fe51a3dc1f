// The host side of caches at links.
#include "host/config/mechanism.h"

#include "host/mechanisms/mechanism.h"
#include "tests/mechanisms/link_cache/device.h"

namespace nearwarp::link_cache {
namespace {

class Run final : public sim::MechanismRun {
 public:
  explicit Run(uint32_t number) : number_(number) {}

  void attach(sim::System& system) override {
    const auto params = sim::place(system, OnLink::Params{.cycles = 8});
    for (const uint16_t port : system.members("link_port"))
      sim::attach_to_memory<LinkPortState>(system, port, number_,
                                           sim::place(system, OnLink::State{}), params);
  }
  void collect(sim::System& system, report::RunResult& result) override {
    uint64_t reads = 0, answered = 0, filled = 0;
    for (const uint16_t port : system.members("link_port")) {
      const auto& s = sim::state_at<OnLink::State, LinkPortState>(system, port, number_);
      reads += s.reads;
      answered += s.answered;
      filled += s.filled;
    }
    result.counters.push_back({"link_cache.reads", reads, "lines", "Reads that came to links"});
    result.counters.push_back({"link_cache.answered", answered, "lines", "Of these: answered"});
    result.counters.push_back({"link_cache.filled", filled, "lines", "Lines that came back"});
  }

 private:
  uint32_t number_;
};

class LinkCache final : public sim::Mechanism {
 public:
  std::string_view name() const override { return "link_cache"; }
  std::unique_ptr<sim::MechanismRun> prepare(const sim::RunSubject&, uint32_t number,
                                             sim::ImageTables&) const override {
    return std::make_unique<Run>(number);
  }
};

}  // namespace

const config::MechanismDeclaration& declaration() {
  static constexpr config::MechanismDeclaration kDeclaration = {
      .name = "link_cache", .doc = "lines are kept where they come over links"};
  return kDeclaration;
}
const sim::Mechanism& mechanism() {
  static const LinkCache kMechanism;
  return kMechanism;
}

}  // namespace nearwarp::link_cache
