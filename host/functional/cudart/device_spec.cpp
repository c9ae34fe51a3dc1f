// Parses the device's properties and the library's settings in the environment.
#include "host/functional/cudart/device_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <type_traits>

#include "host/core/error.h"

namespace nearwarp::cudart {

namespace {

uint64_t number(const std::string& key, const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    throw Error(fmt::format("{} cannot be '{}' - a number is needed", key, text));
  return value;
}

/// Stores a number in a member. Throws if it is none, or does not fit.
template <class T>
void read_number(const std::string& key, const std::string& text, T& member) {
  const uint64_t value = number(key, text);
  if (!std::is_same_v<T, bool> && value > std::numeric_limits<T>::max())
    throw Error(
        fmt::format("{} cannot be {} - at most {}", key, value, std::numeric_limits<T>::max()));
  member = static_cast<T>(value);
}

/// Calls visit(key, member) for each property that is a number.
template <class Spec, class Visit>
void each_number(Spec& s, Visit&& visit) {
  visit("sms", s.sms);
  visit("clock_mhz", s.clock_mhz);
  visit("memory_clock_mhz", s.memory_clock_mhz);
  visit("memory_mbps", s.memory_mbps);
  visit("sm_warps", s.sm_warps);
  visit("sm_threads", s.sm_threads);
  visit("sm_blocks", s.sm_blocks);
  visit("sm_registers", s.sm_registers);
  visit("register_unit", s.register_unit);
  visit("sm_shared_bytes", s.sm_shared_bytes);
  visit("l2_bytes", s.l2_bytes);
  visit("capability", s.capability);
  visit("memory_bytes", s.memory_bytes);
}

void leave_out_of_check(const std::string& text, Settings* settings) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    if (word == "misuse")
      settings->check_misuse = false;
    else if (word == "unwritten")
      settings->check_unwritten = false;
    else
      throw Error(fmt::format("{}: '{}' is nothing that could be left out - misuse, unwritten",
                              kCheckWithoutVariable, word));
  }
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

}  // namespace

std::string format_device(const DeviceSpec& spec) {
  std::string text = "name=" + spec.name;
  each_number(spec,
              [&text](const char* key, auto value) { text += fmt::format(",{}={}", key, value); });
  return text;
}

DeviceSpec parse_device(const std::string& text) {
  DeviceSpec spec;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t equals = part.find('=');
    if (equals == std::string::npos)
      throw Error(
          fmt::format("{}: '{}' has no '=' - e.g. sms=68,clock_mhz=1400", kDeviceVariable, part));
    const std::string key = part.substr(0, equals), value = part.substr(equals + 1);
    bool known = key == "name";
    if (known) spec.name = value;
    each_number(spec, [&](const char* name, auto& member) {
      if (key != name) return;
      known = true;
      read_number(key, value, member);
    });
    if (!known) throw Error(fmt::format("{}: unknown key '{}'", kDeviceVariable, key));
  }
  if (spec.sms == 0 || spec.clock_mhz == 0 || spec.memory_mbps == 0 || spec.capability < 50)
    throw Error(
        fmt::format("{}: sms, clock_mhz, memory_mbps must not be 0, and capability is "
                    "compute capability times ten (e.g. 90)",
                    kDeviceVariable));
  return spec;
}

std::string uuid_of(uint32_t device) { return fmt::format("nearwarp-gpu-{:03}", device); }

namespace {

/// The number of a device by its number or UUID in CUDA_VISIBLE_DEVICES; kMostDevices for other
/// names.
uint32_t device_named(std::string_view name, uint32_t devices) {
  while (name.starts_with(' ')) name.remove_prefix(1);
  while (name.ends_with(' ')) name.remove_suffix(1);
  constexpr std::string_view kPrefix = "GPU-";
  if (name.starts_with(kPrefix)) {
    // CUDA accepts the beginning of a UUID, which is written in groups of hexadecimal digits.
    for (uint32_t device = 0; device < devices; ++device) {
      std::string digits;
      for (size_t i = 0; const char c : uuid_of(device)) {
        digits += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", c);
        ++i;
      }
      if (digits.starts_with(name.substr(kPrefix.size())) && name.size() > kPrefix.size())
        return device;
    }
    return kMostDevices;
  }
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  // Text behind the digits is ignored.
  const bool is_one = error == std::errc() && end != name.data() && number < devices;
  return is_one ? number : kMostDevices;
}

}  // namespace

std::vector<uint32_t> visible_devices(const char* names, uint32_t devices) {
  std::vector<uint32_t> visible;
  if (names == nullptr) {
    for (uint32_t device = 0; device < devices; ++device) visible.push_back(device);
    return visible;
  }
  std::string_view rest = names;
  while (true) {
    const uint32_t device = device_named(rest.substr(0, rest.find(',')), devices);
    if (device == kMostDevices) break;
    if (std::ranges::find(visible, device) != visible.end())
      return {};  // each may be named only once
    visible.push_back(device);
    if (rest.find(',') == std::string_view::npos) break;
    rest.remove_prefix(rest.find(',') + 1);
  }
  return visible;
}

Settings settings_from_environment() {
  Settings settings;
  const std::string devices = environment(kDevicesVariable);
  const uint64_t count = devices.empty() ? 1 : number(kDevicesVariable, devices);
  if (count < 1 || count > kMostDevices)
    throw Error(fmt::format("{} cannot be {} - 1 to {}", kDevicesVariable, count, kMostDevices));
  settings.visible_devices =
      visible_devices(std::getenv("CUDA_VISIBLE_DEVICES"), static_cast<uint32_t>(count));
  settings.device = parse_device(environment(kDeviceVariable));
  settings.spool = environment(kSpoolVariable);
  settings.record = environment(kRecordVariable);
  settings.check = environment(kCheckVariable);
  leave_out_of_check(environment(kCheckWithoutVariable), &settings);
  settings.kernels = environment(kKernelsVariable);
  settings.event_times = environment(kEventTimesVariable);
  settings.registers = parse_registers(environment(kRegistersVariable));
  settings.ptxas_cache = environment(kPtxasCacheVariable);
  const auto take = [](const char* variable, auto& member) {
    const std::string text = environment(variable);
    if (!text.empty()) read_number(variable, text, member);
  };
  take(kMaxInstructionsVariable, settings.max_thread_instructions);
  take(kTraceBytesVariable, settings.max_trace_bytes);
  take(kInterleaveVariable, settings.execution.interleave_instructions);
  take(kExecuteMostVariable, settings.execution.max_thread_instructions);
  take(kTimeLimitVariable, settings.time_limit_seconds);
  take(kStrictBoundsVariable, settings.strict_bounds);
  return settings;
}

}  // namespace nearwarp::cudart
