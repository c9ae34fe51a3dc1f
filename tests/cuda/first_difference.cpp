// Steps a system on a CUDA device and on the emulated one, a window at a time, and tells where they
// first differ, to find errors of a device, a compiler or a driver.
//   first_difference WORKLOAD POLICY [KEY=VALUE...]
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bench/workloads/workload.h"
#include "host/config/config.h"
#include "host/core/error.h"
#include "host/functional/device/virtual_device.h"
#include "host/timing/run/accelerator_replay.h"
#include "kernels/emulated_device.h"

namespace nearwarp {
namespace {

/// A system on one of the devices.
class Side {
 public:
  Side(kernels::Device& device, const sim::ReplayJob& what)
      : shape_{1, 1, device.info().warps_per_block},
        launcher_(device, 1),
        traces_(device, *what.recording) {
    auto run = std::make_unique<sim::Replay>(what, 0);
    run->begin();
    auto image = std::make_shared<const sim::AcceleratorProgram>(device, run->image());
    system_ = std::make_unique<sim::AcceleratorReplay>(device, run, image, traces_);
  }
  /// False once the system is not to be stepped any more.
  bool step() {
    kernels::TeamSystem team = system_->team_system(shape_, 0);
    launcher_.run({&team, 1}, shape_, {1, ~uint64_t{0}});
    system_->take(team.run.control, launcher_.committed(0));
    if (system_->stop() == kernels::Stop::kHost) {
      system_->fetch().serve();
      system_->put_back();
    }
    return system_->stop() != kernels::Stop::kEnded && system_->stop() != kernels::Stop::kLimit;
  }
  sim::Replay& fetch() { return system_->fetch(); }

 private:
  kernels::TeamShape shape_;
  kernels::TeamLauncher launcher_;
  sim::DeviceTraces traces_;
  std::unique_ptr<sim::AcceleratorReplay> system_;
};

/// Whether the byte lies in the table of components: when a component wakes may depend on what it
/// has already seen of others. All else must be equal.
bool may_differ(sim::System& system, uint64_t offset) {
  const uint64_t table = system.table.offset;
  return offset >= table && offset < table + system.table.count * sizeof(kernels::Component);
}

/// The component or channel whose state has the byte at `offset`, if there is one.
std::string owner(sim::System& system, uint64_t offset) {
  for (uint32_t i = 0; i < system.table.count; ++i) {
    const kernels::Component& c = system.component(i);
    if (offset >= c.state && offset < c.state + kernels::ProductFamily::state_bytes(c.kind))
      return system.nodes[i].name + ", State + " + std::to_string(offset - c.state);
  }
  for (const sim::ChannelInfo& info : system.channels) {
    const Channel& c = *system.arena.get(info.channel);
    const std::string ends = system.nodes[c.producer].name + " to " + system.nodes[c.consumer].name;
    if (offset >= info.channel.offset && offset < info.channel.offset + sizeof(Channel))
      return "channel of " + ends + " + " + std::to_string(offset - info.channel.offset);
    if (offset >= c.slots.offset && offset < c.slots.offset + c.slots.count * sizeof(Slot))
      return "slots of " + ends + " + " + std::to_string(offset - c.slots.offset);
  }
  return "an array";
}

uint32_t word(sim::System& system, uint64_t offset) {
  uint32_t value;
  std::memcpy(&value, system.arena.base() + offset, sizeof(value));
  return value;
}

/// f(offset) for each word in which the arenas differ.
template <class F>
void each_difference(sim::System& a, sim::System& b, F&& f) {
  for (uint64_t at = 0; at < a.arena.size_bytes(); at += sizeof(uint32_t))
    if (word(a, at) != word(b, at) && !may_differ(a, at)) f(at);
}

int compare(const std::string& workload, const std::string& policy,
            const std::vector<std::string>& overrides) {
  runtime::VirtualDevice program;
  workloads::find(workload)->run(program, workloads::Size::kSmall);
  const runtime::Recording recording = program.take_recording(workload);
  const config::MachineConfig machine = config::load_machine("tom", overrides);
  const config::PolicyConfig how = config::load_policy(policy, overrides);
  const std::unique_ptr<kernels::Device> cuda = kernels::open_cuda_device(0);
  kernels::EmulatedDevice emulated(kernels::EmulationOptions{});
  Side a(*cuda, {&recording, &machine, &how});
  Side b(emulated, {&recording, &machine, &how});
  // Offsets that differ from the beginning: padding.
  std::set<uint64_t> always;
  each_difference(a.fetch().system(), b.fetch().system(), [&](uint64_t at) { always.insert(at); });
  for (uint64_t window = 1;; ++window) {
    const bool a_goes_on = a.step(), b_goes_on = b.step();
    sim::Replay& ra = a.fetch();
    sim::Replay& rb = b.fetch();
    int told = 0;
    each_difference(ra.system(), rb.system(), [&](uint64_t at) {
      if (always.contains(at) || told++ >= 100) return;
      std::printf("window %llu: byte %llu (%s): device %08x, emulated %08x\n",
                  static_cast<unsigned long long>(window), static_cast<unsigned long long>(at),
                  owner(ra.system(), at).c_str(), word(ra.system(), at), word(rb.system(), at));
    });
    if (told != 0 || ra.control().last != rb.control().last || a_goes_on != b_goes_on) {
      std::printf("window %llu: next tick %llu, emulated %llu\n",
                  static_cast<unsigned long long>(window),
                  static_cast<unsigned long long>(ra.control().next),
                  static_cast<unsigned long long>(rb.control().next));
      return 1;
    }
    if (!a_goes_on) {
      std::printf("equal over %llu windows\n", static_cast<unsigned long long>(window));
      return 0;
    }
  }
}

}  // namespace
}  // namespace nearwarp

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: first_difference WORKLOAD POLICY [KEY=VALUE...]\n");
    return 2;
  }
  try {
    return nearwarp::compare(argv[1], argv[2], {argv + 3, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "first_difference: %s\n", error.what());
    return 1;
  }
}
