// The host side of lines that are checked.
#include "host/config/mechanism.h"

#include "host/mechanisms/mechanism.h"
#include "tests/mechanisms/line_check/device.h"

namespace nearwarp::line_check {
namespace {

class Run final : public sim::MechanismRun {
 public:
  explicit Run(uint32_t number) : number_(number) {}

  void attach(sim::System& system) override {
    const auto params = sim::place(system, OnL2Slice::Params{});
    for (const uint16_t slice : system.members("l2"))
      sim::attach_to_memory<L2SliceState>(system, slice, number_,
                                          sim::place(system, OnL2Slice::State{}), params);
  }
  void collect(sim::System& system, report::RunResult& result) override {
    uint64_t looked_up = 0, there = 0, left_out = 0;
    for (const uint16_t slice : system.members("l2")) {
      const auto& s = sim::state_at<OnL2Slice::State, L2SliceState>(system, slice, number_);
      looked_up += s.looked_up;
      there += s.there;
      left_out += s.left_out;
    }
    result.counters.push_back({"line_check.looked_up", looked_up, "lines", "Looked up again"});
    result.counters.push_back({"line_check.there", there, "lines", "Of these: have come"});
    result.counters.push_back({"line_check.left_out", left_out, "lines", "Not looked up again"});
  }

 private:
  uint32_t number_;
};

class LineCheck final : public sim::Mechanism {
 public:
  std::string_view name() const override { return "line_check"; }
  std::unique_ptr<sim::MechanismRun> prepare(const sim::RunSubject&, uint32_t number,
                                             sim::ImageTables&) const override {
    return std::make_unique<Run>(number);
  }
};

}  // namespace

const config::MechanismDeclaration& declaration() {
  static constexpr config::MechanismDeclaration kDeclaration = {
      .name = "line_check", .doc = "lines that are read are looked up twice"};
  return kDeclaration;
}
const sim::Mechanism& mechanism() {
  static const LineCheck kMechanism;
  return kMechanism;
}

}  // namespace nearwarp::line_check
