// One warp's way through the machine.
#include "host/timing/timeline/follow.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "host/core/demangle.h"
#include "host/core/error.h"
#include "host/timing/report/columns.h"

namespace nearwarp::timeline {
namespace {

const char* phase_text(sm::Phase phase) {
  switch (phase) {
    case sm::Phase::kAtBarrier:
      return "waits at a barrier";
    case sm::Phase::kAtFence:
      return "waits for its own stores and loads";
    case sm::Phase::kAtFetch:
      return "waits for instructions";
    case sm::Phase::kAtConstant:
      return "waits for constants";
    case sm::Phase::kFinished:
      return "is at its end, with memory operations in flight";
    case sm::Phase::kAtMbarrier:
      return "waits at an mbarrier";
    case sm::Phase::kAtCopy:
      return "waits for bulk copies";
    case sm::Phase::kHeld:
      return "is held by the mechanism";
    case sm::Phase::kRunning:
    case sm::Phase::kFree:
      break;
  }
  return "runs";
}

uint64_t number_of(const std::string& text, const std::string& whole) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    throw UsageError(fmt::format(
        "--follow cannot be '{}' - write KERNEL:WARP or KERNEL#LAUNCH:WARP, counted from 0",
        whole));
  return value;
}

}  // namespace

Followed parse_followed(const std::string& text) {
  const size_t colon = text.rfind(':');
  Followed f;
  if (colon == std::string::npos || colon == 0) number_of("", text);
  f.warp = number_of(text.substr(colon + 1), text);
  f.kernel = text.substr(0, colon);
  if (const size_t hash = f.kernel.rfind('#'); hash != std::string::npos) {
    f.launch = number_of(f.kernel.substr(hash + 1), text);
    f.kernel.resize(hash);
  }
  return f;
}

void Follow::begin(sim::Replay& run) {
  const sim::ImageTables& image = run.image();
  std::vector<std::string> names;
  uint64_t seen = 0;
  bool there = false;
  for (uint32_t i = 0; i < image.launches.size() && !there; ++i) {
    const compiler::Kernel& kernel = *run.recording().kernels[image.launches[i].kernel];
    const std::string name = demangled(kernel.name);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    if (kernel.name != what_.kernel && !name.starts_with(what_.kernel)) continue;
    there = seen++ == what_.launch;
    launch_ = i;
  }
  if (seen == 0)
    throw Error(fmt::format("the program launches no kernel '{}' to follow - it launches {}",
                            what_.kernel, fmt::join(names, ", ")));
  if (!there)
    throw Error(
        fmt::format("kernel {} is launched {} times, and --follow asks for number {} - "
                    "they are counted from 0",
                    what_.kernel, seen, what_.launch));
  const sm::LaunchInfo& launch = image.launches[launch_];
  const uint64_t warps = uint64_t{launch.num_blocks} * launch.warps_per_block;
  if (what_.warp >= warps)
    throw Error(
        fmt::format("a launch of {} has {} warps, and --follow asks for number {} - they "
                    "are counted from 0",
                    what_.kernel, warps, what_.warp));
  kernel_ = launch.kernel;
  block_ = launch.first_block + what_.warp / launch.warps_per_block;
  warp_in_block_ = static_cast<uint32_t>(what_.warp % launch.warps_per_block);
  sim::System& system = run.system();
  core_period_ = system.core_period;
  step_ = core_period_;
  for (const sim::ChannelInfo& info : system.channels)
    step_ = std::min<Tick>(step_, std::max(1u, system.arena.get(info.channel)->latency));
  for (const auto& node : system.nodes) names_.push_back(node.name);
  const compiler::Kernel& kernel = *run.recording().kernels[kernel_];
  for (size_t i = 0; i < image.index_of[kernel_].size(); ++i) {
    const uint32_t pc = image.index_of[kernel_][i];
    if (pc == sim::ImageTables::kNotIssued || i >= kernel.instructions.size()) continue;
    const compiler::Instruction& instruction = kernel.instructions[i];
    std::string file;
    if (instruction.source_line != 0 && instruction.source_file < kernel.source_files.size())
      file = kernel.source_files[instruction.source_file];
    lines_[pc] = file.empty() ? fmt::format("PTX line {}", instruction.ptx_line)
                              : fmt::format("{}:{}", file.substr(file.rfind('/') + 1),
                                            instruction.source_line);
  }
  next_ = 0;
}

bool Follow::find(sim::Replay& run, Tick at) {
  sim::System& system = run.system();
  for (const uint16_t endpoint : system.sms) {
    const bool here = sim::with_sm(system, endpoint, [&](auto& s) {
      std::byte* base = system.arena.base();
      for (uint32_t b = 0; b < s.blocks.count; ++b) {
        auto& slot = s.blocks.in(base)[b];
        if (!slot.used || slot.launch != launch_ || slot.thread_block != block_) continue;
        uint32_t n = 0;
        bool taken = false;
        slot.warps.each([&](uint32_t warp) {
          if (n++ != warp_in_block_) return;
          slot_ = warp;
          taken = true;
        });
        block_slot_ = b;
        return taken;
      }
      return false;
    });
    if (!here) continue;
    sm_ = endpoint;
    begin_ = at;
    return true;
  }
  return false;
}

void Follow::enter(Tick at, std::string what) {
  if (!states_.empty() && states_.back().what == what) return;
  if (!states_.empty()) states_.back().end = at;
  states_.push_back({at, at, std::move(what)});
}

void Follow::look_at_warp(sim::Replay& run, Tick at) {
  sim::System& system = run.system();
  sim::with_sm(system, sm_, [&](auto& s) {
    std::byte* base = system.arena.base();
    const auto& block = s.blocks.in(base)[block_slot_];
    const sm::Warp& w = s.warps.in(base)[slot_];
    // Once retired, its slot may be another's.
    over_ = !block.used || block.thread_block != block_ || !block.running.test(slot_);
    if (over_) return;
    if (w.at.pc != last_pc_) issued_ += 1;
    last_pc_ = w.at.pc;
    std::string what = phase_text(w.phase);
    if (s.away.test(slot_))
      what = "is executed elsewhere";
    else if (w.phase == sm::Phase::kRunning && !s.ready.test(slot_) && w.loads != 0)
      what = "waits for memory";
    enter(at, what);
  });
  if (!over_) return;
  end_ = at;
  if (!states_.empty()) states_.back().end = at;
}

void Follow::look_at_requests(sim::Replay& run, Tick at) {
  sim::System& system = run.system();
  const auto& p = system.params<sm::SmParams>(sm_).l1;
  sim::with_sm(system, sm_, [&](auto& s) {
    std::byte* base = system.arena.base();
    const auto mine = [&](uint32_t mshr, uint32_t& pc, bool& first) {
      for (uint32_t i = 0; i < s.l1.mshr_count.in(base)[mshr]; ++i) {
        const sm::LoadEntry& load =
            s.load_entries.in(base)[s.l1.mshr_loads.in(base)[mshr * p.merges + i]];
        if (load.warp != slot_) continue;
        pc = load.pc;
        first = i == 0;
        return true;
      }
      return false;
    };
    for (uint32_t m = 0; m < p.mshrs && m < 64; ++m) {
      const bool free = (s.l1.mshr_free >> m & 1) != 0;
      const auto at_m = open_.find(m);
      const uint32_t line = free ? 0 : s.l1.mshr_line.in(base)[m];
      if (at_m != open_.end()) {
        Request& r = requests_[at_m->second];
        if (!free && r.line == line) continue;
        r.end = at;
        open_.erase(at_m);
      }
      if (free) continue;
      uint32_t pc = 0;
      bool first = false;
      // One that its cache no longer knows, as of a line that was invalidated, cannot be followed.
      if (over_ || line == kNoLine || !mine(m, pc, first)) continue;
      open_[m] = requests_.size();
      requests_.push_back({sm_, m, line, pc, at, at, !first, {}});
    }
  });
}

void Follow::look_at_channels(sim::Replay& run, Tick at) {
  if (open_.empty()) return;
  sim::System& system = run.system();
  std::byte* base = system.arena.base();
  for (const sim::ChannelInfo& info : system.channels) {
    const Channel& c = *system.arena.get(info.channel);
    const Slot* slots = c.slots.in(base);
    for (uint32_t i = 0; i < c.slots.count; ++i) {
      const Slot& slot = slots[i];
      if (slot.arrive == kNever || class_of(slot.packet.kind) == MessageClass::kControl) continue;
      const Packet& packet = slot.packet;
      for (const auto& [mshr, index] : open_) {
        Request& r = requests_[index];
        if (packet.line != r.line) continue;
        const bool reply = is_reply(packet.kind);
        const uint16_t end = reply ? packet.dst : packet.src;
        // Of an SM's own, or of those who ask on for it; not another SM's for the same line.
        if (end == sm_ ? packet.tag != mshr : kernels::is_sm(system.component(end).kind)) continue;
        const bool known = std::any_of(r.hops.begin(), r.hops.end(), [&](const Hop& h) {
          return h.from == c.producer && h.to == c.consumer && h.arrives == slot.arrive;
        });
        if (!known) r.hops.push_back({c.producer, c.consumer, at, slot.arrive, reply});
      }
    }
  }
}

void Follow::look(sim::Replay& run) {
  const Tick at = next_;
  if (!found_) found_ = find(run, at);
  if (found_) {
    if (!over_) look_at_warp(run, at);
    look_at_requests(run, at);
    look_at_channels(run, at);
  }
  next_ = over_ && open_.empty() ? kNever : at + (open_.empty() ? core_period_ : step_);
}

void Follow::end(sim::Replay& run, const report::RunResult& result) {
  const Tick last = result.cycles * core_period_;
  if (found_ && !over_) {
    end_ = last;
    if (!states_.empty()) states_.back().end = last;
  }
  for (const auto& [mshr, index] : open_) requests_[index].end = last;
  text_ = text_of(run);
}

std::string Follow::place_of(sim::Replay&, uint32_t pc) const {
  const auto at = lines_.find(pc);
  return at == lines_.end() ? "?" : at->second;
}

std::string Follow::text_of(sim::Replay& run) const {
  const std::string title =
      fmt::format("{}, launch {}, warp {}", what_.kernel, what_.launch, what_.warp);
  if (!found_) return title + ": it did not begin before the run's end\n";
  const auto cycle = [&](Tick tick) { return report::grouped(tick / core_period_); };
  std::vector<std::pair<Tick, std::string>> lines;
  std::map<std::string, Tick> spent;
  for (const State& s : states_) {
    spent[s.what] += s.end - s.begin;
    lines.emplace_back(s.begin, fmt::format("{}, until {}", s.what, cycle(s.end)));
  }
  for (const Request& r : requests_) {
    lines.emplace_back(r.begin,
                       fmt::format("line {:#x}, {}: {}", r.line, place_of(run, r.pc),
                                   r.joined ? "another warp has asked for it" : "misses the L1"));
    for (const Hop& h : r.hops) {
      lines.emplace_back(h.sent, fmt::format("line {:#x}: {} -> {}, there at {}", r.line,
                                             names_[h.from], names_[h.to], cycle(h.arrives)));
    }
    lines.emplace_back(r.end, fmt::format("line {:#x}: is there, after {} cycles", r.line,
                                          cycle(r.end - r.begin)));
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text =
      fmt::format("{}, on {}: cycles {} to {}\n\n", title, names_[sm_], cycle(begin_), cycle(end_));
  for (const auto& [tick, line] : lines) text += fmt::format("{:>11}  {}\n", cycle(tick), line);
  text += "\nWhere its time went:\n\n";
  const Tick all = std::max<Tick>(1, end_ - begin_);
  for (const auto& [what, ticks] : spent)
    text += fmt::format("{:>11}  {:>5.1f} %  {}\n", cycle(ticks),
                        100 * static_cast<double>(ticks) / static_cast<double>(all), what);
  if (requests_.empty()) return text + "\nNone of its loads missed the L1.\n";
  Tick waited = 0;
  for (const Request& r : requests_) waited += r.end - r.begin;
  return text + fmt::format("\n{} line{} missed the L1, {} cycles each on average.\n",
                            requests_.size(), requests_.size() == 1 ? "" : "s",
                            cycle(waited / requests_.size()));
}

void Follow::write(TraceWriter& out, uint32_t pid) const {
  if (!found_) return;
  out.process(pid, fmt::format("followed: {}, warp {}", what_.kernel, what_.warp), pid);
  out.thread(pid, 1, "the warp");
  for (const State& s : states_)
    if (s.end / core_period_ > s.begin / core_period_)
      out.span(pid, 1, s.what, s.begin / core_period_, s.end / core_period_);
  // A thread for each MSHR: its requests follow each other.
  std::map<uint32_t, bool> named;
  for (const Request& r : requests_) {
    const uint32_t thread = 2 + r.mshr;
    if (!named[thread]) out.thread(pid, thread, fmt::format("request, MSHR {}", r.mshr));
    named[thread] = true;
    const uint64_t begin = r.begin / core_period_, end = r.end / core_period_;
    if (end <= begin) continue;
    out.span(pid, thread, fmt::format("line {:#x}", r.line), begin, end);
    uint64_t free = begin;
    for (const Hop& h : r.hops) {
      const uint64_t from = std::max(free, h.sent / core_period_),
                     to = std::min(end, h.arrives / core_period_);
      if (to <= from) continue;
      out.span(pid, thread, fmt::format("to {}", names_[h.to]), from, to,
               fmt::format("from {}", names_[h.from]));
      free = to;
    }
  }
}

}  // namespace nearwarp::timeline
