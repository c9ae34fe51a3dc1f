#include <map>
#include <mutex>
#include <string_view>

#include "bench/workloads/embedded.h"
#include "bench/workloads/workload.h"
#include "bench/workloads/workloads.h"
#include "host/core/error.h"

namespace nearwarp::workloads {
namespace {

/// Text of a PTX file, or nullptr.
const char* embedded_ptx(std::string_view name) {
  for (const char* const* file = embedded::ptx_files; *file != nullptr; file += 2) {
    if (name == file[0]) return file[1];
  }
  return nullptr;
}

/// The name of the file with the same kernels, compiled without unrolling loops. Sources without
/// loops have none.
std::string rolled_name(const std::string& ptx_name) {
  return ptx_name.substr(0, ptx_name.rfind('.')) + ".rolled.ptx";
}

/// A workload with the PTX that has no unrolled loops.
class Rolled final : public Workload {
 public:
  explicit Rolled(const Workload& unrolled) : unrolled_(unrolled) {}
  std::string name() const override { return name_.empty() ? unrolled_.name() + "-rolled" : name_; }
  std::string description() const override {
    return unrolled_.description() + "; compiled without unrolling loops";
  }
  std::string source() const override { return unrolled_.source(); }
  std::string ptx_name() const override { return rolled_name(unrolled_.ptx_name()); }
  std::string variant_of() const override { return unrolled_.name(); }
  bool rolled() const override { return true; }
  std::vector<Parameter> parameters() const override { return unrolled_.parameters(); }
  std::unique_ptr<Workload> with(std::string name, Values values) const override {
    auto rolled = std::make_unique<Rolled>(unrolled_);
    rolled->other_ = unrolled_.with(name, std::move(values));
    rolled->name_ = std::move(name);
    return rolled;
  }
  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    return (other_ ? *other_ : unrolled_).drive(device, module, size);
  }

 private:
  const Workload& unrolled_;
  std::unique_ptr<Workload> other_;  ///< the workload with values of its parameters
  std::string name_;                 ///< its name with these values
};

}  // namespace

std::string Workload::ptx() const {
  const char* text = embedded_ptx(ptx_name());
  if (text == nullptr)
    throw Error("workload '" + name() + "': no '" + ptx_name() +
                "' in a folder of bench/workloads");
  return text;
}

CheckResult Workload::run(runtime::VirtualDevice& device, Size size) const {
  const uint32_t module = device.load_module(
      std::make_shared<const compiler::Program>(compiler::compile_ptx(ptx(), ptx_name())));
  return drive(device, module, size);
}

const Workloads& all() {
  static const Workloads workloads = [] {
    Workloads list;
#define NW_ADD_ONE(name) list.push_back(make_##name());
#define NW_ADD_SEVERAL(name) \
  for (auto& workload : make_##name()) list.push_back(std::move(workload));
    NW_EACH_WORKLOAD(NW_ADD_ONE, NW_ADD_SEVERAL)
#undef NW_ADD_ONE
#undef NW_ADD_SEVERAL
    const size_t unrolled = list.size();
    for (size_t i = 0; i < unrolled; ++i) {
      const Workload& workload = *list[i];
      if (!workload.other_input() && embedded_ptx(rolled_name(workload.ptx_name())) != nullptr)
        list.push_back(std::make_unique<Rolled>(workload));
    }
    return list;
  }();
  return workloads;
}

std::unique_ptr<Workload> Workload::with(std::string, Values) const {
  throw Error("workload '" + name() + "' has no parameters");
}

const Workload* find(const std::string& name) {
  const size_t colon = name.find(':');
  const std::string plain = name.substr(0, colon);
  for (const auto& workload : all()) {
    if (workload->name() != plain) continue;
    if (colon == std::string::npos) return workload.get();
    static std::mutex mutex;
    static std::map<std::string, std::unique_ptr<Workload>> with_values;
    const std::lock_guard lock(mutex);
    auto& kept = with_values[name];
    if (!kept)
      kept =
          workload->with(name, parse_values(plain, workload->parameters(), name.substr(colon + 1)));
    return kept.get();
  }
  return nullptr;
}

std::string drivers_hash() { return embedded::drivers_hash; }

Size parse_size(const std::string& text) {
  if (text == "small") return Size::kSmall;
  if (text == "medium") return Size::kMedium;
  if (text == "large") return Size::kLarge;
  if (text == "paper") return Size::kPaper;
  throw UsageError("unknown size '" + text + "' - sizes are small, medium, large, paper");
}

}  // namespace nearwarp::workloads
