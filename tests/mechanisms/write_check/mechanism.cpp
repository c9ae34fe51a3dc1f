// The host side of writes that are verified.
#include "host/config/mechanism.h"

#include "host/mechanisms/mechanism.h"
#include "tests/mechanisms/write_check/device.h"

namespace nearwarp::write_check {
namespace {

class Run final : public sim::MechanismRun {
 public:
  explicit Run(uint32_t number) : number_(number) {}

  void attach(sim::System& system) override {
    const auto params = sim::place(system, OnVault::Params{});
    each_vault(system, [&](uint32_t vault) {
      sim::attach_to_memory<VaultState>(system, vault, number_,
                                        sim::place(system, OnVault::State{}), params);
    });
  }
  void collect(sim::System& system, report::RunResult& result) override {
    uint64_t asked = 0, checked = 0, left_out = 0;
    each_vault(system, [&](uint32_t vault) {
      const auto& s = sim::state_at<OnVault::State, VaultState>(system, vault, number_);
      asked += s.asked;
      checked += s.checked;
      left_out += s.left_out;
    });
    result.counters.push_back({"write_check.asked", asked, "lines", "Read again"});
    result.counters.push_back({"write_check.checked", checked, "lines", "Of these: have come"});
    result.counters.push_back({"write_check.left_out", left_out, "lines", "Not read again"});
  }

 private:
  template <class F>
  static void each_vault(sim::System& system, F&& f) {
    for (uint32_t i = 0; i < system.table.count; ++i)
      if (system.component(i).kind == kernels::ComponentKind::kVault) f(i);
  }

  uint32_t number_;
};

class WriteCheck final : public sim::Mechanism {
 public:
  std::string_view name() const override { return "write_check"; }
  std::unique_ptr<sim::MechanismRun> prepare(const sim::RunSubject&, uint32_t number,
                                             sim::ImageTables&) const override {
    return std::make_unique<Run>(number);
  }
};

}  // namespace

const config::MechanismDeclaration& declaration() {
  static constexpr config::MechanismDeclaration kDeclaration = {
      .name = "write_check", .doc = "lines that are written are read again"};
  return kDeclaration;
}
const sim::Mechanism& mechanism() {
  static const WriteCheck kMechanism;
  return kMechanism;
}

}  // namespace nearwarp::write_check
