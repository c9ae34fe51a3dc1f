// One warp's way through the machine.
#include "host/timing/timeline/follow.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "host/core/demangle.h"
#include "host/core/error.h"
#include "host/timing/report/columns.h"
#include "host/timing/timeline/follow_line.h"

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

uint64_t number_of(const std::string& text, const std::string& whole, int base = 10) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    throw UsageError(fmt::format(
        "`follow` cannot be '{}' - write KERNEL:WARP or KERNEL#LAUNCH:WARP, counted from 0, "
        "KERNEL:WARP/REQUEST, its requests counted from 1, or an address in hexadecimal, "
        "0xADDRESS",
        whole));
  return value;
}

}  // namespace

Followed parse_followed(const std::string& text) {
  Followed f;
  if (text.starts_with("0x") && text.find(':') == std::string::npos) {
    f.address = number_of(text.substr(2), text, 16);
    return f;
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) number_of("", text);
  std::string warp = text.substr(colon + 1);
  if (const size_t slash = warp.find('/'); slash != std::string::npos) {
    f.request = number_of(warp.substr(slash + 1), text);
    if (f.request == 0) number_of("", text);
    warp.resize(slash);
  }
  f.warp = number_of(warp, text);
  f.kernel = text.substr(0, colon);
  if (const size_t hash = f.kernel.rfind('#'); hash != std::string::npos) {
    f.launch = number_of(f.kernel.substr(hash + 1), text);
    f.kernel.resize(hash);
  }
  return f;
}

std::unique_ptr<Follower> make_follower(Followed what) {
  if (what.address.has_value()) return std::make_unique<FollowLine>(*what.address);
  return std::make_unique<Follow>(std::move(what));
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
    throw Error(fmt::format(
        "kernel {} is launched {}, and `follow` asks for number {} - "
        "they are counted from 0",
        what_.kernel, seen == 1 ? "once" : fmt::format("{} times", seen), what_.launch));
  const sm::LaunchInfo& launch = image.launches[launch_];
  const uint64_t warps = uint64_t{launch.num_blocks} * launch.warps_per_block;
  if (what_.warp >= warps)
    throw Error(
        fmt::format("a launch of {} has {} warps, and `follow` asks for number {} - they "
                    "are counted from 0",
                    what_.kernel, warps, what_.warp));
  kernel_ = launch.kernel;
  block_ = launch.first_block + what_.warp / launch.warps_per_block;
  warp_in_block_ = static_cast<uint32_t>(what_.warp % launch.warps_per_block);
  tracks_.begin(run);
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
    // The slot of a warp that has retired may be another's.
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
    for (uint32_t m = 0; m < p.mshrs; ++m) {
      const uint32_t line = s.l1.mshr_line.in(base)[m];
      if (const auto at_m = open_.find(m); at_m != open_.end()) {
        RequestWay& r = requests_[at_m->second];
        if (waits_for(s.l1, base, m, r.line)) continue;
        r.finish = at;
        open_.erase(at_m);
      }
      uint32_t pc = 0;
      bool first = false;
      // One that its cache no longer knows, as of a line that was invalidated, cannot be followed.
      if (over_ || line == kNoLine || !mine(m, pc, first)) continue;
      open_[m] = requests_.size();
      RequestWay& r = requests_.emplace_back();
      r.end = sm_;
      r.tag = m;
      r.line = line;
      r.pc = pc;
      r.begin = r.finish = at;
      r.joined = !first;
    }
  });
}

void Follow::look_at_channels(sim::Replay& run, Tick at) {
  if (open_.empty()) return;
  sim::System& system = run.system();
  tracks_.each_packet(system, [&](const Channel& c, const Packet& packet, Tick arrives) {
    for (const auto& [mshr, index] : open_) {
      RequestWay& r = requests_[index];
      if (packet.line != r.line) continue;
      const uint32_t end = node_of(is_reply(packet.kind) ? packet.dst : packet.src);
      // A packet of the SM's own, or of who asks on for it; not another SM's for the same line.
      if (end == sm_ ? packet.tag == mshr : !kernels::is_sm(system.component(end).kind))
        RequestTracks::add_hop(r, c, packet, at, arrives);
    }
  });
  for (const auto& [mshr, index] : open_) tracks_.look_at_bank(system, requests_[index], at);
}

void Follow::look(sim::Replay& run) {
  const Tick at = next_;
  if (!found_) found_ = find(run, at);
  if (found_) {
    if (!over_) look_at_warp(run, at);
    look_at_requests(run, at);
    look_at_channels(run, at);
  }
  next_ = over_ && open_.empty() ? kNever
                                 : at + (open_.empty() ? tracks_.core_period() : tracks_.step());
}

void Follow::end(sim::Replay& run, const report::RunResult& result) {
  const Tick last = result.cycles * tracks_.core_period();
  if (found_ && !over_) {
    end_ = last;
    if (!states_.empty()) states_.back().end = last;
  }
  for (const auto& [mshr, index] : open_) requests_[index].finish = last;
  text_ = what_.request == 0 ? text_of(run) : text_of_request(run);
}

std::string Follow::title() const {
  return fmt::format("{}, launch {}, warp {}", what_.kernel, what_.launch, what_.warp);
}

std::string Follow::text_of_request(sim::Replay& run) {
  if (!found_) return title() + ": it did not begin before the run's end\n";
  if (what_.request > requests_.size())
    return fmt::format("{}: {} of its requests missed the L1, so there is no number {}\n", title(),
                       requests_.size(), what_.request);
  const RequestWay& r = requests_[what_.request - 1];
  return fmt::format("{}, request {}: {} reads line {:#x}, {}\n\n", title(), what_.request,
                     tracks_.names()[sm_], tracks_.address_of(run.system(), r.line),
                     tracks_.place_of(kernel_, r.pc)) +
         tracks_.text_of(r);
}

std::string Follow::text_of(sim::Replay& run) {
  if (!found_) return title() + ": it did not begin before the run's end\n";
  const auto cycle = [&](Tick tick) { return report::grouped(tracks_.cycle(tick)); };
  const std::vector<std::string>& names = tracks_.names();
  std::vector<std::pair<Tick, std::string>> lines;
  std::map<std::string, Tick> spent;
  for (const State& s : states_) {
    spent[s.what] += s.end - s.begin;
    lines.emplace_back(s.begin, fmt::format("{}, until {}", s.what, cycle(s.end)));
  }
  for (size_t i = 0; i < requests_.size(); ++i) {
    const RequestWay& r = requests_[i];
    const std::string line = fmt::format("line {:#x}", tracks_.address_of(run.system(), r.line));
    lines.emplace_back(
        r.begin, fmt::format("{}, request {}, {}: {}", line, i + 1, tracks_.place_of(kernel_, r.pc),
                             r.joined ? "another warp has asked for it" : "misses the L1"));
    for (const Hop& h : r.hops)
      lines.emplace_back(h.sent, fmt::format("{}: {} -> {}, there at {}", line, names[h.from],
                                             names[h.to], cycle(h.arrives)));
    lines.emplace_back(
        r.finish, fmt::format("{}: is there, after {} cycles", line, cycle(r.finish - r.begin)));
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text = fmt::format("{}, on {}: cycles {} to {}\n\n", title(), names[sm_],
                                 cycle(begin_), cycle(end_));
  for (const auto& [tick, line] : lines) text += fmt::format("{:>11}  {}\n", cycle(tick), line);
  text += "\nWhere its time went:\n\n";
  const Tick all = std::max<Tick>(1, end_ - begin_);
  for (const auto& [what, ticks] : spent)
    text += fmt::format("{:>11}  {:>5.1f} %  {}\n", cycle(ticks),
                        100 * static_cast<double>(ticks) / static_cast<double>(all), what);
  if (requests_.empty()) return text + "\nNone of its loads missed the L1.\n";
  Tick waited = 0;
  for (const RequestWay& r : requests_) waited += r.finish - r.begin;
  return text + fmt::format("\n{} line{} missed the L1, {} cycles each on average.\n",
                            requests_.size(), requests_.size() == 1 ? "" : "s",
                            cycle(waited / requests_.size()));
}

void Follow::write(TraceWriter& out, uint32_t pid) const {
  if (!found_) return;
  const bool one = what_.request != 0;
  out.process(pid,
              fmt::format("followed: {}, warp {}{}", what_.kernel, what_.warp,
                          one ? fmt::format(", request {}", what_.request) : ""),
              pid);
  out.thread(pid, 1, "the warp");
  for (const State& s : states_)
    if (tracks_.cycle(s.end) > tracks_.cycle(s.begin))
      out.span(pid, 1, s.what, tracks_.cycle(s.begin), tracks_.cycle(s.end));
  // A thread for each MSHR: its requests follow each other.
  std::map<uint32_t, bool> named;
  for (size_t i = 0; i < requests_.size(); ++i) {
    const RequestWay& r = requests_[i];
    if (one && i + 1 != what_.request) continue;
    const uint32_t thread = 2 + r.tag;
    if (!named[thread]) out.thread(pid, thread, fmt::format("request, MSHR {}", r.tag));
    named[thread] = true;
    tracks_.write(out, pid, thread, fmt::format("request {}", i + 1), r);
  }
}

}  // namespace nearwarp::timeline
