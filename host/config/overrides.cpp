// Parses overrides and applies them to configurations.
#include "host/config/overrides.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "host/config/mechanism.h"
#include "host/config/store.h"

namespace nearwarp::config {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Whether each underscore of a number without its prefix stands between two digits.
bool has_underscores_within(std::string_view digits) {
  const auto is_digit = [&](size_t i) {
    return i < digits.size() && std::isxdigit(static_cast<unsigned char>(digits[i])) != 0;
  };
  for (size_t i = digits.find('_'); i != digits.npos; i = digits.find('_', i + 1))
    if (!is_digit(i - 1) || !is_digit(i + 1)) return false;
  return true;
}

template <class Config>
void store_override(const Key<Config>& key, Config& config, std::string_view value,
                    const std::string& where) {
  const Member member = key.member(config);
  if (const auto* flag = std::get_if<bool*>(&member)) {
    if (value != "true" && value != "false") {
      throw bad_value(key, fmt::format("cannot be '{}'", value), where);
    }
    **flag = value == "true";
  } else if (std::holds_alternative<std::string*>(member)) {
    store_text(key, config, std::string(unquoted(value)), where);
  } else if (const auto* texts = std::get_if<std::vector<std::string>*>(&member)) {
    (*texts)->clear();
    for (std::string_view rest = unquoted(value); !rest.empty();) {
      const size_t end = std::min(rest.find(';'), rest.size());
      const std::string_view text = trimmed(rest.substr(0, end));
      if (!text.empty()) (*texts)->emplace_back(text);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  } else if (const auto* optional = std::get_if<std::optional<uint64_t>*>(&member);
             optional != nullptr && (value == "unknown" || value == "\"unknown\"")) {
    (*optional)->reset();
  } else {
    // Numbers have the forms of TOML: with underscores between digits, and prefixes 0x, 0o and 0b.
    int base = 10;
    for (const auto& [prefix, of] : {std::pair{"0x", 16}, {"0o", 8}, {"0b", 2}})
      if (value.starts_with(prefix)) base = of;
    std::string digits(value.substr(base == 10 ? 0 : 2));
    const bool is_number = has_underscores_within(digits) && (base == 10 || digits[0] != '-');
    std::erase(digits, '_');
    int64_t number = 0;
    const char* const last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, number, base);
    if (!is_number || error != std::errc() || end != last) {
      if (store_time(key, config, unquoted(value), where)) return;
      throw bad_value(key, fmt::format("cannot be '{}'", value), where);
    }
    store_number(key, config, number, where);
  }
}

bool is_key(std::string_view path) {
  return find_key<MachineConfig>(path) != nullptr || find_key<PolicyConfig>(path) != nullptr ||
         find_key<EnergyConfig>(path) != nullptr;
}

constexpr std::string_view kChange = "`set` ";

}  // namespace

std::string place_of_change(std::string_view text) { return fmt::format("{}{}", kChange, text); }
bool is_change(std::string_view place) { return place.starts_with(kChange); }
bool mentions_change(std::string_view place) { return place.find(kChange) != place.npos; }

Override split_override(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || trimmed(text.substr(0, equals)).empty()) {
    throw UsageError(fmt::format("`set` '{}' sets nothing - write key=value", text));
  }
  return {trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1))};
}

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

template <class Config>
bool override_key(Config& config, std::string_view text, Places* places) {
  const Override change = split_override(text);
  const std::string where = place_of_change(text);
  const Key<Config>* key = find_key<Config>(change.key);
  if (key != nullptr) {
    try {
      store_override(*key, config, change.value, where);
    } catch (const Error& error) {
      throw_as_usage(error);
    }
    if (places != nullptr) (*places)[std::string(change.key)] = where;
    return true;
  }
  if (is_key(change.key)) return false;
  std::vector<std::string> names = key_names<MachineConfig>();
  for (std::string& name : key_names<PolicyConfig>()) names.push_back(std::move(name));
  for (std::string& name : key_names<EnergyConfig>()) names.push_back(std::move(name));
  throw ErrorWithParts<UsageError>(at_place(fmt::format("unknown key '{}'", change.key), where,
                                            without_dash(key_suggestion(change.key, names))));
}

template <class Config>
void override_own(Config& config, std::string_view text, Places& places) {
  const Override change = split_override(text);
  const std::string where = place_of_change(text);
  const Key<Config>* key = find_key<Config>(change.key);
  if (key == nullptr) {
    throw ErrorWithParts<UsageError>(
        at_place(fmt::format("unknown key '{}'", change.key), where,
                 without_dash(key_suggestion(change.key, key_names<Config>()))));
  }
  try {
    store_override(*key, config, change.value, where);
  } catch (const Error& error) {
    throw_as_usage(error);
  }
  places[std::string(change.key)] = where;
}

template bool override_key(MachineConfig&, std::string_view, Places*);
template bool override_key(PolicyConfig&, std::string_view, Places*);
template bool override_key(EnergyConfig&, std::string_view, Places*);
template void override_own(DramConfig&, std::string_view, Places&);
template void override_own(AreaConfig&, std::string_view, Places&);

bool apply_override(MachineConfig& machine, std::string_view override_text) {
  return override_key(machine, override_text, nullptr) ||
         override_key(machine.energy, override_text, nullptr);
}
bool apply_override(PolicyConfig& policy, std::string_view override_text) {
  return override_key(policy, override_text, nullptr);
}

void refuse_without_effect(std::span<const PolicyConfig* const> policies) {
  if (policies.empty()) return;
  for (const std::string& text : policies.front()->without_effect) {
    const std::string_view name = split_override(text).key;
    const auto lacks = [&](const PolicyConfig* p) {
      return std::any_of(p->without_effect.begin(), p->without_effect.end(),
                         [&](const std::string& t) { return split_override(t).key == name; });
    };
    if (!std::all_of(policies.begin(), policies.end(), lacks)) continue;
    std::string are;
    for (const PolicyConfig* p : policies) {
      const std::string is = fmt::format("'{}' has \"{}\"", p->name, p->mechanism);
      if (are.find(is) == std::string::npos) are += (are.empty() ? "" : ", ") + is;
    }
    throw UsageError(
        fmt::format("{} (`set` {}) is a key of the {} - {} {}: leave it out, or choose a policy "
                    "with one that has it",
                    name, text, takers(*find_key<PolicyConfig>(name)),
                    policies.size() == 1 ? "policy" : "of the policies", are));
  }
}

}  // namespace nearwarp::config
