// Follows requests through the machine.
#include "host/timing/timeline/request_way.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/timing/report/columns.h"

namespace nearwarp::timeline {
namespace {

const char* row_text(const BankAccess& access) {
  switch (access.opened) {
    case 0:
      return "its row is open";
    case 1:
      return "its row is opened";
    default:
      return "another row is closed, and its own opened";
  }
}

/// A physical line without the number of its address map.
uint32_t without_map(uint32_t line) { return line & (kMaxMappedLines - 1); }

}  // namespace

std::vector<Stage> stages_of(const RequestWay& way, const std::vector<std::string>& names) {
  std::vector<Hop> hops = way.hops;
  std::stable_sort(hops.begin(), hops.end(),
                   [](const Hop& a, const Hop& b) { return a.sent < b.sent; });
  std::vector<Stage> stages;
  Tick at = way.begin;
  const auto until = [&](Tick end, std::string what) {
    end = std::min(end, way.finish);
    if (end <= at) return;
    stages.push_back({at, end, std::move(what)});
    at = end;
  };
  uint16_t place = way.end;
  const auto wait = [&](Tick end) {
    for (const BankAccess& access : way.accesses) {
      if (access.vault != place || access.waits || access.command < at || access.command > end)
        continue;
      until(access.command, fmt::format("in {}: waits for bank {}, {}", names[place], access.bank,
                                        row_text(access)));
      until(end, fmt::format("in {}: data of bank {}", names[place], access.bank));
    }
    until(end, way.joined && stages.empty() && way.end == place
                   ? fmt::format("in {}, which has asked for it before", names[place])
                   : fmt::format("in {}", names[place]));
  };
  for (const Hop& hop : hops) {
    wait(hop.sent);
    until(hop.arrives, fmt::format("{} -> {}", names[hop.from], names[hop.to]));
    place = hop.to;
  }
  wait(way.finish);
  return stages;
}

void RequestTracks::begin(sim::Replay& run) {
  sim::System& system = run.system();
  const sim::ImageTables& image = run.image();
  core_period_ = system.core_period;
  step_ = core_period_;
  for (const sim::ChannelInfo& info : system.channels)
    step_ = std::min<Tick>(step_, std::max(1u, system.arena.get(info.channel)->latency));
  for (const auto& node : system.nodes) names_.push_back(node.name);
  const auto& params = system.params<sm::SmParams>(system.sms[0]);
  grid_ = params.grid;
  for (uint32_t k = 0; k < image.index_of.size(); ++k) {
    const compiler::Kernel& kernel = *run.recording().kernels[k];
    for (size_t i = 0; i < image.index_of[k].size(); ++i) {
      const uint32_t pc = image.index_of[k][i];
      if (pc == sim::ImageTables::kNotIssued || i >= kernel.instructions.size()) continue;
      const compiler::Instruction& instruction = kernel.instructions[i];
      std::string file;
      if (instruction.source_line != 0 && instruction.source_file < kernel.source_files.size())
        file = kernel.source_files[instruction.source_file];
      lines_[{k, pc}] = file.empty() ? fmt::format("PTX line {}", instruction.ptx_line)
                                     : fmt::format("{}:{}", file.substr(file.rfind('/') + 1),
                                                   instruction.source_line);
    }
  }
}

bool RequestTracks::add_hop(RequestWay& way, const Channel& c, const Packet& packet, Tick at,
                            Tick arrives) {
  const bool known = std::any_of(way.hops.begin(), way.hops.end(), [&](const Hop& h) {
    return h.from == c.producer && h.to == c.consumer && h.arrives == arrives;
  });
  if (!known) way.hops.push_back({c.producer, c.consumer, at, arrives, is_reply(packet.kind)});
  return !known;
}

void RequestTracks::look_at_bank(sim::System& system, RequestWay& way, Tick at) const {
  if (way.hops.empty() || way.hops.back().arrives > at) return;
  const uint16_t vault = way.hops.back().to;
  if (system.component(vault).kind != kernels::ComponentKind::kVault) return;
  const VaultState& state = system.state<VaultState>(vault);
  const VaultEntry* entries = state.entries.in(system.arena.base());
  BankAccess* access = nullptr;
  for (BankAccess& known : way.accesses)
    if (known.vault == vault && known.waits) access = &known;
  for (uint64_t bits = state.valid; bits != 0; bits &= bits - 1) {
    const VaultEntry& entry = entries[count_trailing_zeros(bits)];
    if (entry.line != way.line || entry.silent != 0) continue;
    if (access == nullptr) access = &way.accesses.emplace_back();
    *access = {vault, entry.bank, entry.opened, at, true};
    return;
  }
  if (access == nullptr) return;
  access->command = at;
  access->waits = false;
}

std::string RequestTracks::place_of(uint32_t kernel, uint32_t pc) const {
  const auto at = lines_.find({kernel, pc});
  return at == lines_.end() ? "?" : at->second;
}

uint32_t RequestTracks::translated(sim::System& system, uint32_t space, uint32_t line) const {
  const Translation& t = system.params<sm::SmParams>(system.sms[0]).translation;
  const std::byte* base = system.arena.base();
  return without_map(translate(t, base, space, line));
}

uint64_t RequestTracks::address_of(sim::System& system, uint32_t line) {
  const Translation& t = system.params<sm::SmParams>(system.sms[0]).translation;
  uint64_t found = t.spaces.count == 0 ? line : without_map(line);
  for (uint32_t space = 0; space < t.spaces.count; ++space) {
    const PageTable& table = t.spaces.in(system.arena.base())[space];
    const uint32_t pages = table.pages.count;
    const auto within = static_cast<uint32_t>(low_bits(t.page_shift));
    for (uint32_t page = 0; page < pages; ++page)
      if (translated(system, space, (page << t.page_shift) + (line & within)) == without_map(line))
        found = (uint64_t{page} << t.page_shift) + (line & within);
  }
  return grid_.address_of(static_cast<LineAddr>(found));
}

uint32_t RequestTracks::line_of(sim::System& system, uint64_t address) const {
  return translated(system, 0, grid_.line_of(address));
}

std::string RequestTracks::text_of(const RequestWay& way) const {
  std::string text;
  for (const Stage& stage : stages_of(way, names_))
    if (const uint64_t cycles = cycle(stage.end) - cycle(stage.begin); cycles != 0)
      text += fmt::format("{:>11}  {:>6}  {}\n", report::grouped(cycle(stage.begin)),
                          report::grouped(cycles), stage.what);
  return text + fmt::format("{:>11}  {:>6}  cycles in all\n", report::grouped(cycle(way.finish)),
                            report::grouped(cycle(way.finish) - cycle(way.begin)));
}

void RequestTracks::write(TraceWriter& out, uint32_t pid, uint32_t thread, std::string_view name,
                          const RequestWay& way) const {
  const uint64_t begin = cycle(way.begin), end = cycle(way.finish);
  if (end <= begin) return;
  out.span(pid, thread, name, begin, end);
  for (const Stage& stage : stages_of(way, names_))
    if (cycle(stage.end) > cycle(stage.begin))
      out.span(pid, thread, stage.what, cycle(stage.begin), cycle(stage.end));
}

}  // namespace nearwarp::timeline
