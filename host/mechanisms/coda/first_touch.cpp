// CGP-Only with first touch: attaches it to SMs, counts pages.
#include "host/mechanisms/coda/first_touch.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "device/mechanisms/coda/first_touch.h"
#include "host/core/error.h"
#include "host/mechanisms/coda/memory.h"
#include "host/mechanisms/coda/settings.h"

namespace nearwarp::coda {

namespace {

FirstTouchMode touch_mode(const std::string& before_touch) {
  return before_touch == "cgp"   ? FirstTouchMode::kMovedFromCgp
         : before_touch == "fgp" ? FirstTouchMode::kMovedFromFgp
                                 : FirstTouchMode::kPlaced;
}

/// Numbers of pages by what became of them.
struct PageCounts {
  uint64_t touched = 0, moved = 0;
};

class FirstTouchRun final : public sim::MechanismRun {
 public:
  FirstTouchRun(const sim::RunSubject& subject, uint32_t number, uint64_t memory_bytes)
      : subject_(subject), number_(number), memory_bytes_(memory_bytes) {
    rule_.mode = touch_mode(subject.policy.table<PageSettings>().before_touch);
    rule_.stack_bits = static_cast<uint8_t>(std::countr_zero(subject.machine.stack.count));
    rule_.map = kCgpMap;
    uint64_t groups = 0;
    for (const uint64_t pages :
         pages_by_application(subject.recording, subject.machine.memory.page_bytes)) {
      spaces_.push_back({static_cast<uint32_t>(pages), static_cast<uint32_t>(groups), 0});
      groups += pages;
    }
    if (rule_.mode == FirstTouchMode::kMovedFromFgp) {
      for (Space& s : spaces_) {
        s.first_fgp_frame = static_cast<uint32_t>(groups << rule_.stack_bits);
        groups += (s.pages + subject.machine.stack.count - 1) >> rule_.stack_bits;
      }
    }
    const uint32_t room = page_groups(subject);
    if (groups > room)
      throw Error(fmt::format(
          "pages that their first touch places have a group of {} pages each, {} groups in all, "
          "and there are {} - with policy.mapping = \"cgp\" or \"coda\" they need fewer",
          subject.machine.stack.count, groups, room));
  }

  void extend(sim::Graph& graph, const sim::Parts& parts) override {
    const uint32_t line = subject_.machine.l1.line_bytes;
    graph.address_spaces = std::max(static_cast<uint32_t>(spaces_.size()), graph.address_spaces);
    graph.more_maps = std::max(kCgpMap, graph.more_maps);
    graph.mapped_lines = std::max(graph.mapped_lines, (memory_bytes_ + line - 1) / line);
    // A walker's read of the entry comes by the network: what is written is seen no sooner.
    rule_.seen_ticks = parts.hop().latency;
  }

  void attach(sim::System& system) override {
    std::vector<FirstTouchPages> spaces;
    for (const Space& s : spaces_) {
      const std::vector<PageTouch> untouched(s.pages);
      spaces.push_back({sim::place_all(system, untouched), s.first_group, s.first_fgp_frame});
    }
    rule_.spaces = sim::place_all(system, spaces);
    const auto params = sim::place(system, rule_);
    for (const uint16_t endpoint : system.sms) {
      sim::attach_to_sm(system, endpoint, number_, sim::place(system, OnSm::State<1>{}), params);
      sim::with_sm(system, endpoint, [&](auto& sm) {
        sm.places_pages = static_cast<uint8_t>(sm.places_pages | 1u << number_);
      });
    }
  }

  /// A page that nobody has touched is where nobody's touch would place it.
  void begin(sim::System& system) override {
    make_cgp_map(system);
    std::byte* base = system.arena.base();
    const uint32_t shift = system.page_tables.translation.page_shift;
    for (uint32_t i = 0; i < spaces_.size(); ++i) {
      const FirstTouchPages& space = rule_.spaces.in(base)[i];
      for (uint32_t page = 0; page < space.pages.count; ++page)
        write_entry(system.page_tables.translation, base, i, page,
                    touched_entry(rule_, space, kNever, page, shift));
    }
  }

  void collect(sim::System& system, report::RunResult& result) override {
    const auto add = [&](const std::string& name, uint64_t value, const char* unit,
                         const std::string& what) {
      result.counters.push_back({name, value, unit, what});
    };
    const PageCounts pages = count_pages(system);
    const FirstTouchCounters sms = sum(system);
    add("pages.touched", pages.touched, "pages", "Pages that were placed by their first touch");
    for (uint32_t stack = 0; stack < subject_.machine.stack.count; ++stack)
      add(fmt::format("pages.stack{}", stack), count_in(system, stack), "pages",
          fmt::format("Of these, in stack {}", stack));
    if (!rule_.moves()) return;
    add("pages.moved", pages.moved, "pages", "Pages that were moved to another stack");
    add("pages.move_reads", sms.move_reads, "lines", "Lines that were read to be moved");
    add("pages.move_writes", sms.move_writes, "lines", "Lines that were written where they belong");
    add("pages.repeated_reads", repeated_reads(system), "reads",
        "Page-table entries read again, because their page was being moved");
  }

  void check(sim::System& system) override {
    const PageCounts pages = count_pages(system);
    const FirstTouchCounters sms = sum(system);
    const uint64_t lines = pages.moved << system.page_tables.translation.page_shift;
    if (sms.moves != pages.moved || sms.move_reads != lines || sms.move_writes != lines)
      throw Error(
          fmt::format("{} pages have been moved, {} by SMs, with {} lines read and {} written - "
                      "this is a defect of the simulator",
                      pages.moved, sms.moves, sms.move_reads, sms.move_writes));
  }

 private:
  struct Space {
    uint32_t pages = 0;  ///< from page 0 on
    uint32_t first_group = 0, first_fgp_frame = 0;
  };

  /// f(space, page, touch) for each page that has been touched.
  template <class F>
  void each_touched(sim::System& system, F&& f) const {
    const std::byte* base = system.arena.base();
    for (uint32_t i = 0; i < spaces_.size(); ++i) {
      const FirstTouchPages& space = rule_.spaces.in(base)[i];
      for (uint32_t page = 0; page < space.pages.count; ++page)
        if (const PageTouch& touch = space.pages.in(base)[page]; touch.first != kNever)
          f(page, touch);
    }
  }
  PageCounts count_pages(sim::System& system) const {
    PageCounts n;
    each_touched(system, [&](uint32_t, const PageTouch& touch) {
      n.touched += 1;
      n.moved += touch.moved != kNever ? 1 : 0;
    });
    return n;
  }
  uint64_t count_in(sim::System& system, uint32_t stack) const {
    uint64_t n = 0;
    each_touched(system, [&](uint32_t page, const PageTouch& touch) {
      n += Toucher::of(touch.first, page, rule_.stack_bits).stack == stack ? 1 : 0;
    });
    return n;
  }
  FirstTouchCounters sum(sim::System& system) const {
    FirstTouchCounters n;
    for (const uint16_t endpoint : system.sms) {
      const uint32_t at = sim::with_sm(system, endpoint,
                                       [&](const auto& sm) { return sm.mechanism_state[number_]; });
      const FirstTouchCounters& t =
          reinterpret_cast<const OnSm::State<1>*>(system.arena.base() + at)->counters;
      n.moves += t.moves;
      n.move_reads += t.move_reads;
      n.move_writes += t.move_writes;
    }
    return n;
  }
  static uint64_t repeated_reads(sim::System& system) {
    uint64_t n = 0;
    for (const uint16_t endpoint : system.sms)
      n += sim::with_sm(system, endpoint, [](const auto& sm) { return sm.tlb.counters.repeats; });
    return n;
  }

  sim::RunSubject subject_;
  uint32_t number_;
  uint64_t memory_bytes_;
  FirstTouch rule_;
  std::vector<Space> spaces_;
};

}  // namespace

std::unique_ptr<sim::MechanismRun> prepare_first_touch(const sim::RunSubject& subject,
                                                       uint32_t number, uint64_t memory_bytes) {
  const config::MachineConfig& m = subject.machine;
  const auto refuse = [&](const std::string& what) {
    throw Error(fmt::format("policy '{}' on machine '{}': {}", subject.policy.name, m.name, what));
  };
  if (m.tlb.entries == 0)
    refuse("tlb.entries is 0 - a page's first touch is a walk for it, so SMs need TLBs");
  if (m.tlb.page_bytes != m.memory.page_bytes)
    refuse(
        fmt::format("tlb.page_bytes is {} - pages that are placed one by one need entries of "
                    "memory.page_bytes, {}",
                    m.tlb.page_bytes, m.memory.page_bytes));
  if (m.memory.page_bytes / m.l1.line_bytes > kMaxMoveLines)
    refuse(fmt::format("a page has {} lines - to be moved it may have {}",
                       m.memory.page_bytes / m.l1.line_bytes, kMaxMoveLines));
  if (m.gpu.sms > 1u << Toucher::kSmBits)
    refuse(fmt::format("it has {} SMs - first touches are told of at most {}", m.gpu.sms,
                       1u << Toucher::kSmBits));
  return std::make_unique<FirstTouchRun>(subject, number, memory_bytes);
}

}  // namespace nearwarp::coda
