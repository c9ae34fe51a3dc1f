// All requests for one line of memory.
#include "host/timing/timeline/follow_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/core/demangle.h"
#include "host/core/error.h"
#include "host/timing/report/columns.h"

namespace nearwarp::timeline {
namespace {

/// The number that a request and its reply have in common.
uint32_t number_of(PacketKind kind) { return static_cast<uint32_t>(kind) >> 2 & 0x1f; }
constexpr uint32_t kReads = 1, kWrites = 2, kAtomics = 3, kInvalidates = 4, kReadsNear = 5,
                   kTells = 6;

const char* verb_of(uint32_t number) {
  switch (number) {
    case kReads:
      return "reads it";
    case kWrites:
      return "writes it";
    case kAtomics:
      return "changes it atomically";
    case kInvalidates:
      return "is told to drop it";
    case kReadsNear:
      return "reads it, and keeps it near its bank";
    case kTells:
      return "is told that it was written";
    default:
      return "asks for it";
  }
}

/// "points + 1,280" for an address in the program's memory.
std::string place_in(const runtime::Recording& recording, uint64_t address) {
  const runtime::Allocation* last = nullptr;
  std::string ranges;
  for (const runtime::Allocation& a : recording.allocations) {
    if (ranges.size() < 300)
      ranges += fmt::format("{}{}{:#x} to {:#x}", ranges.empty() ? "" : ", ",
                            a.label.empty() ? "" : a.label + " ", a.address, a.address + a.bytes);
    if (address >= a.address && address < a.address + a.bytes) last = &a;
  }
  if (last == nullptr)
    throw Error(fmt::format("the program has no memory at {:#x} to follow - it has {}", address,
                            ranges.empty() ? "none" : ranges));
  const std::string offset = report::grouped(address - last->address);
  return last->label.empty() ? fmt::format("byte {} of {}", offset, report::grouped(last->bytes))
                             : fmt::format("{} + {}", last->label, offset);
}

}  // namespace

void FollowLine::begin(sim::Replay& run) {
  for (const runtime::LaunchRecord& launch : run.recording().launches)
    if (launch.application != 0)
      throw Error(
          "an address to follow is of one program, and several run together - follow a warp, or "
          "run the program by itself");
  tracks_.begin(run);
  where_ = place_in(run.recording(), address_);
  address_ -= address_ % tracks_.line_bytes();
  for (const auto& c : run.system().classes)
    if (sim::is_sm_class(run.system(), c))
      sms_.insert(sms_.end(), c.members.begin(), c.members.end());
}

template <class S>
void FollowLine::open(sim::Replay& run, const S& s, uint16_t endpoint, uint32_t mshr, Tick at) {
  const auto& p = run.system().params<sm::SmParams>(endpoint).l1;
  std::byte* base = run.system().arena.base();
  Request r;
  r.has_mshr = true;
  r.number = kReads;
  r.way.end = endpoint;
  r.way.tag = mshr;
  r.way.line = s.l1.mshr_line.in(base)[mshr];
  r.way.begin = r.way.finish = at;
  if (s.l1.mshr_count.in(base)[mshr] != 0) {
    const sm::LoadEntry& load = s.load_entries.in(base)[s.l1.mshr_loads.in(base)[mshr * p.merges]];
    const sm::Warp& warp = s.warps.in(base)[load.warp];
    r.way.pc = load.pc;
    r.way.kernel = warp.kernel;
    const std::string kernel = demangled(run.recording().kernels[warp.kernel]->name);
    r.way.who = kernel.substr(0, kernel.find('('));
    if (warp.guest_of != 0) {
      r.way.who += ", offloaded";
    } else {
      // As Followed counts: launches of the kernel, and warps over a launch's blocks.
      const auto& block = s.blocks.in(base)[warp.block_slot];
      const auto& launches = run.image().launches;
      const sm::LaunchInfo& launch = launches[block.launch];
      uint64_t before = 0;
      for (uint32_t i = 0; i < block.launch; ++i) before += launches[i].kernel == launch.kernel;
      uint64_t number = uint64_t{block.thread_block - launch.first_block} * launch.warps_per_block;
      block.warps.each([&](uint32_t slot) { number += slot < load.warp ? 1 : 0; });
      r.way.who += before == 0 ? fmt::format(":{}", number) : fmt::format("#{}:{}", before, number);
    }
  }
  open_.push_back(requests_.size());
  requests_.push_back(std::move(r));
}

void FollowLine::look_at_sms(sim::Replay& run, Tick at, uint32_t line) {
  sim::System& system = run.system();
  std::byte* base = system.arena.base();
  for (const uint16_t endpoint : sms_) {
    const uint32_t mshrs = system.params<sm::SmParams>(endpoint).l1.mshrs;
    sim::with_sm(system, endpoint, [&](auto& s) {
      const uint32_t* lines = s.l1.mshr_line.in(base);
      const auto is_line = [&](uint32_t found) {
        return found != kNoLine && (found & (kMaxMappedLines - 1)) == line;
      };
      for (const size_t i : open_) {
        Request& r = requests_[i];
        if (!r.has_mshr || r.way.end != endpoint || waits_for(s.l1, base, r.way.tag, r.way.line))
          continue;
        r.way.finish = at;
        r.over = true;
      }
      for (uint32_t m = 0; m < mshrs; ++m) {
        if (!is_line(lines[m])) continue;
        const bool known = std::any_of(open_.begin(), open_.end(), [&](size_t i) {
          const Request& r = requests_[i];
          return r.has_mshr && !r.over && r.way.end == endpoint && r.way.tag == m;
        });
        if (!known) open(run, s, endpoint, m, at);
      }
    });
  }
  std::erase_if(open_, [&](size_t i) { return requests_[i].has_mshr && requests_[i].over; });
}

void FollowLine::place(sim::System& system, const Channel& c, const Packet& packet, Tick at,
                       Tick arrives) {
  const uint32_t end = node_of(is_reply(packet.kind) ? packet.dst : packet.src);
  const uint32_t number = number_of(packet.kind);
  bool placed = false;
  for (const size_t i : open_) {
    Request& r = requests_[i];
    // A packet of the SM's own, or of those who ask on for all that wait.
    const bool own = r.way.end == end && r.way.tag == packet.tag && r.number == number;
    const bool asks_on =
        r.has_mshr && number == kReads && !kernels::is_sm(system.component(end).kind);
    if (!own && !asks_on) continue;
    placed = true;
    if (!RequestTracks::add_hop(r.way, c, packet, at, arrives) || r.has_mshr) continue;
    r.way.finish = std::max(r.way.finish, arrives);
    r.over = is_reply(packet.kind) && c.consumer == end;
  }
  if (placed) return;
  Request r;
  r.number = number;
  r.way.end = end;
  r.way.tag = packet.tag;
  r.way.line = packet.line;
  r.way.begin = at;
  r.way.finish = arrives;
  RequestTracks::add_hop(r.way, c, packet, at, arrives);
  open_.push_back(requests_.size());
  requests_.push_back(std::move(r));
}

void FollowLine::look(sim::Replay& run) {
  const Tick at = next_;
  sim::System& system = run.system();
  const uint32_t line = tracks_.line_of(system, address_) & (kMaxMappedLines - 1);
  look_at_sms(run, at, line);
  tracks_.each_packet(system, [&](const Channel& c, const Packet& packet, Tick arrives) {
    if (block_of(packet.kind) == kMemoryBlock && (packet.line & (kMaxMappedLines - 1)) == line)
      place(system, c, packet, at, arrives);
  });
  for (const size_t i : open_) tracks_.look_at_bank(system, requests_[i].way, at);
  // A request that was answered is over when its last channel has brought the reply.
  std::erase_if(open_, [&](size_t i) {
    return !requests_[i].has_mshr && requests_[i].over && requests_[i].way.finish <= at;
  });
  next_ = at + tracks_.step();
}

std::string FollowLine::name_of(const Request& r) const {
  std::string text = fmt::format("{} {}", tracks_.names()[r.way.end], verb_of(r.number));
  if (r.way.who.empty()) return text;
  return text + fmt::format(", for {}, {}", r.way.who, tracks_.place_of(r.way.kernel, r.way.pc));
}

void FollowLine::end(sim::Replay&, const report::RunResult& result) {
  for (const size_t i : open_)
    if (requests_[i].has_mshr) requests_[i].way.finish = result.cycles * tracks_.core_period();
  text_ = fmt::format("Line {:#x}, {} bytes, at {}: {} request{}\n", address_, tracks_.line_bytes(),
                      where_, report::grouped(requests_.size()), requests_.size() == 1 ? "" : "s");
  for (size_t i = 0; i < requests_.size(); ++i)
    text_ += fmt::format("\n{}. {}\n\n{}", i + 1, name_of(requests_[i]),
                         tracks_.text_of(requests_[i].way));
}

void FollowLine::write(TraceWriter& out, uint32_t pid) const {
  out.process(pid, fmt::format("followed: line {:#x}", address_), pid);
  // Requests at the same time lie on threads of their own.
  std::vector<uint64_t> free_from;
  for (const Request& r : requests_) {
    const uint64_t begin = tracks_.cycle(r.way.begin);
    uint32_t thread = 0;
    while (thread < free_from.size() && free_from[thread] > begin) ++thread;
    if (thread == free_from.size()) {
      free_from.push_back(0);
      out.thread(pid, thread + 1, fmt::format("requests {}", thread + 1));
    }
    free_from[thread] = tracks_.cycle(r.way.finish);
    tracks_.write(out, pid, thread + 1, name_of(r), r.way);
  }
}

}  // namespace nearwarp::timeline
