// Architectures that device code is made for.
#include "host/functional/cudart/code/code_target.h"

#include <fmt/format.h>

#include <charconv>

namespace nearwarp::cudart {

namespace {

/// A family is the later devices of one major number.
bool same_family(uint32_t architecture, uint32_t capability) {
  return architecture / 10 == capability / 10 && architecture <= capability;
}

/// Code for one device may use what that of its family may not, and this what others may not.
int narrowness(char variant) { return variant == 'a' ? 2 : variant == 'f' ? 1 : 0; }

}  // namespace

std::string CodeTarget::name() const {
  return fmt::format("sm_{}{}", architecture, variant == '\0' ? "" : std::string(1, variant));
}

std::optional<CodeTarget> parse_target(std::string_view name) {
  constexpr std::string_view kPrefix = "sm_";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  CodeTarget target;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), target.architecture);
  if (error != std::errc()) return std::nullopt;
  name.remove_prefix(static_cast<size_t>(end - name.data()));
  if (name == "a" || name == "f")
    target.variant = name.front();
  else if (!name.empty())
    return std::nullopt;
  return target;
}

bool ptx_runs_on(const CodeTarget& target, uint32_t capability) {
  if (target.variant == 'a') return target.architecture == capability;
  if (target.variant == 'f') return same_family(target.architecture, capability);
  return target.architecture <= capability;
}

bool machine_code_runs_on(const CodeTarget& target, uint32_t capability) {
  return target.variant == 'a' ? target.architecture == capability
                               : same_family(target.architecture, capability);
}

bool nearer(const CodeTarget& a, const CodeTarget& b) {
  if (a.architecture != b.architecture) return a.architecture > b.architecture;
  return narrowness(a.variant) > narrowness(b.variant);
}

}  // namespace nearwarp::cudart
