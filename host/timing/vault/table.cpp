// A standard's constraints in the form that vaults step with.
#include "host/timing/vault/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "host/core/error.h"

namespace nearwarp::sim {
namespace {

using config::Constraint;
using enum config::DramCommand;
using Scope = config::DramScope;

using Pair = std::pair<config::DramCommand, config::DramCommand>;
static_assert(static_cast<int>(kWriteData) == static_cast<int>(DramCommand::kWriteData));
static_assert(static_cast<int>(Scope::kBankGroup) == static_cast<int>(DramScope::kBankGroup));
static_assert(config::kMostWindows == kMaxDramWindows);

/// A field of VaultParams and the pairs that it holds apart.
struct Field {
  Scope scope;
  uint32_t VaultParams::*to;
  std::vector<Pair> pairs;
};
const std::vector<Pair> kColumns = {
    {kRead, kRead}, {kRead, kWrite}, {kWrite, kRead}, {kWrite, kWrite}};

const std::vector<Field>& fields() {
  static const std::vector<Field> all = {
      {Scope::kBank, &VaultParams::tRCD, {{kActivate, kRead}, {kActivate, kWrite}}},
      {Scope::kBank, &VaultParams::tRAS, {{kActivate, kPrecharge}}},
      {Scope::kBank, &VaultParams::tRC, {{kActivate, kActivate}}},
      {Scope::kBank, &VaultParams::tRP, {{kPrecharge, kActivate}}},
      {Scope::kBank, &VaultParams::tRTP, {{kRead, kPrecharge}}},
      {Scope::kBank, &VaultParams::tWR, {{kWriteData, kPrecharge}}},
      {Scope::kBankGroup, &VaultParams::tRRD_L, {{kActivate, kActivate}}},
      {Scope::kBankGroup, &VaultParams::tCCD_L, kColumns},
      {Scope::kBankGroup, &VaultParams::tWTR_L, {{kWriteData, kRead}}},
      {Scope::kChannel, &VaultParams::tRRD, {{kActivate, kActivate}}},
      {Scope::kChannel, &VaultParams::tCCD, kColumns},
      {Scope::kChannel, &VaultParams::tRTW, {{kRead, kWrite}}},
      {Scope::kChannel, &VaultParams::tWTR, {{kWriteData, kRead}}},
  };
  return all;
}

uint8_t log2_exact(uint32_t value) { return static_cast<uint8_t>(std::countr_zero(value)); }

class Compiler {
 public:
  Compiler(VaultParams& p, const config::DramParts& parts, const std::string& where)
      : p_(p), parts_(parts), row_buffers_(parts.row_buffers), where_(where) {}

  void compile(const std::vector<Constraint>& constraints) {
    p_.tRFC = p_.tREFI = p_.tFAW = 0;
    set_parts();
    set_refresh(constraints);
    for (const Constraint& c : constraints) take(c);
    imply(Scope::kChannel);
    imply(Scope::kBankGroup);
    // A field holds what all of its pairs keep at least; who keeps more has a row besides.
    for (const Field& field : fields()) p_.*field.to = take_field(field);
    for (const auto& [key, cycles] : longest_) {
      const auto& [scope, from, to, others] = key;
      if (cycles == 0) continue;
      if (p_.rows.count == kMaxDramRows)
        throw Error(
            fmt::format("a DRAM has more than {} constraints besides the customary ones ({}) - "
                        "join rows, or leave some out",
                        kMaxDramRows, where_));
      p_.rows.row[p_.rows.count++] = {cycles, static_cast<DramCommand>(from),
                                      static_cast<DramCommand>(to), device_scope(scope),
                                      static_cast<uint8_t>(others ? 1 : 0)};
      note_scope(static_cast<DramCommand>(to), scope);
    }
    if (p_.rows.window_cycles != 0) note_scope(DramCommand::kActivate, window_scope_);
    if (p_.bus_shift != 31) {  // data may not meet on a bus
      note_scope(DramCommand::kRead, Scope::kPseudoChannel);
      note_scope(DramCommand::kWrite, Scope::kPseudoChannel);
    }
    const bool parts_in_turn = p_.tREFI != 0 && p_.refresh.parts > 1;
    p_.general =
        p_.rows.count != 0 || p_.rows.window_cycles != 0 || p_.bus_shift != 31 || parts_in_turn ? 1
                                                                                                : 0;
  }

 private:
  uint32_t banks_of_group() const { return parts_.banks_per_group * row_buffers_; }
  uint32_t banks_of_rank() const { return banks_of_group() * parts_.bank_groups; }
  uint32_t banks_of_pseudo_channel() const { return banks_of_rank() * parts_.ranks; }
  /// Bank groups have fields where all of a channel's are in one rank.
  bool groups_have_fields() const { return parts_.groups() == parts_.bank_groups; }

  void set_parts() {
    p_.rows = {};
    auto& shift = p_.rows.shift;
    shift[size_t(Scope::kBankGroup)] = log2_exact(banks_of_group());
    shift[size_t(Scope::kRank)] = log2_exact(banks_of_rank());
    shift[size_t(Scope::kPseudoChannel)] = log2_exact(banks_of_pseudo_channel());
    p_.group_shift = groups_have_fields() ? log2_exact(banks_of_group()) : uint8_t{31};
    p_.bus_shift = parts_.pseudo_channels > 1 ? log2_exact(banks_of_pseudo_channel()) : uint8_t{31};
  }

  void set_refresh(const std::vector<Constraint>& constraints) {
    refresh_scope_ = config::refresh_scope(constraints);
    const uint32_t rank = banks_of_rank(), group = banks_of_group(), half = rank / 2;
    const uint64_t bank = low_bits(row_buffers_);
    DramRefresh& r = p_.refresh = {};
    r.parts = static_cast<uint8_t>(config::refreshes_of_all(refresh_scope_, parts_));
    // Sets which banks are refreshed one after the other, in one step or rank by rank.
    const auto follow = [&](uint64_t banks, uint32_t step, uint32_t inner, uint32_t outer) {
      r.banks = banks;
      r.step = static_cast<uint8_t>(step);
      r.inner = static_cast<uint8_t>(inner);
      r.outer = static_cast<uint8_t>(outer);
    };
    switch (refresh_scope_) {
      case Scope::kChannel:
        return follow(low_bits(rank * parts_.pseudo_channels * parts_.ranks), 0, 1, 0);
      case Scope::kPseudoChannel:
        return follow(low_bits(rank * parts_.ranks), 0, 1, rank * parts_.ranks);
      case Scope::kRank:
        return follow(low_bits(rank), 0, 1, rank);
      case Scope::kBankGroup:
        return follow(low_bits(group), group, parts_.bank_groups, rank);
      case Scope::kSameBank: {
        uint64_t banks = 0;
        for (uint32_t g = 0; g < parts_.bank_groups; ++g) banks |= bank << g * group;
        return follow(banks, row_buffers_, parts_.banks_per_group, rank);
      }
      case Scope::kBankPair:
        if (half < row_buffers_) return follow(bank, 0, 1, rank);
        return follow(bank | bank << half, row_buffers_, half / row_buffers_, rank);
      case Scope::kBank:
        return follow(bank, row_buffers_, rank / row_buffers_, rank);
    }
  }

  static DramScope device_scope(Scope scope) {
    return scope == Scope::kBank ? DramScope::kBank : static_cast<DramScope>(scope);
  }

  void take(const Constraint& c) {
    if (config::is_refresh(c, refresh_scope_)) {
      p_.tRFC = std::max(p_.tRFC, c.cycles);
      return;
    }
    if (config::is_interval(c)) {
      p_.tREFI = std::max(p_.tREFI, c.cycles);
      return;
    }
    if (c.scope == Scope::kBankGroup && parts_.bank_groups == 1) return;  // as if there were none
    if (c.others && parts_.ranks == 1) return;
    const Scope scope = c.others ? Scope::kRank : config::scope_in(parts_, c.scope);
    if (c.window) {
      set_window(scope, c.cycles);
      return;
    }
    uint32_t& longest = longest_[{scope, c.from, c.to, c.others}];
    longest = std::max(longest, c.cycles);
  }

  void set_window(Scope scope, uint32_t cycles) {
    if (scope == Scope::kChannel) {
      p_.tFAW = std::max(p_.tFAW, cycles);
      return;
    }
    if (cycles == 0) return;
    window_scope_ = scope;
    p_.rows.window_cycles = std::max(p_.rows.window_cycles, cycles);
    p_.rows.window_scope = device_scope(scope);
  }

  uint32_t longest(Scope scope, config::DramCommand from, config::DramCommand to) const {
    const auto at = longest_.find({scope, from, to, false});
    return at == longest_.end() ? 0 : at->second;
  }

  /// Many tables leave out what follows from other rows: between commands of different kinds a
  /// distance as between two reads. Said, it lets a field hold all four pairs.
  void imply(Scope scope) {
    const uint32_t reads = longest(scope, kRead, kRead);
    const auto say = [&](config::DramCommand from, config::DramCommand to, uint32_t follows) {
      uint32_t& said = longest_[{scope, from, to, false}];
      if (follows >= reads) said = std::max(said, reads);
    };
    say(kRead, kWrite, longest(Scope::kChannel, kRead, kWrite));
    say(kWrite, kRead,
        p_.tCWL + std::max(longest(scope, kWriteData, kRead),
                           longest(Scope::kChannel, kWriteData, kRead)));
  }

  uint32_t take_field(const Field& field) {
    if (field.scope == Scope::kBankGroup && !groups_have_fields()) return 0;
    uint32_t least = ~0u;
    const auto of = [&](const Pair& pair) {
      return longest_.find({field.scope, pair.first, pair.second, false});
    };
    for (const Pair& pair : field.pairs)
      least = std::min(least, of(pair) == longest_.end() ? 0u : of(pair)->second);
    for (const Pair& pair : field.pairs)
      if (const auto at = of(pair); at != longest_.end() && at->second == least) longest_.erase(at);
    return least;
  }

  void note_scope(DramCommand to, Scope scope) {
    p_.rows.scopes[static_cast<size_t>(to)] |=
        static_cast<uint8_t>(1u << static_cast<uint32_t>(device_scope(scope)));
  }

  VaultParams& p_;
  config::DramParts parts_;
  uint32_t row_buffers_;
  const std::string& where_;
  Scope refresh_scope_ = Scope::kChannel, window_scope_ = Scope::kChannel;
  std::map<std::tuple<Scope, config::DramCommand, config::DramCommand, bool>, uint32_t> longest_;
};

}  // namespace

void set_constraints(VaultParams& p, const std::vector<Constraint>& constraints,
                     const config::DramParts& parts, const std::string& where) {
  Compiler(p, parts, where).compile(constraints);
}

}  // namespace nearwarp::sim
