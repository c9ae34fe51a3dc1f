// The result of TOM's pass as a report, and as text.
#include "host/mechanisms/tom/pass/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "host/core/demangle.h"

namespace nearwarp::compiler {
namespace {

constexpr size_t kIndent = 17;  // column in which the words of a field begin

const char* kind_text(CandidateKind kind) {
  switch (kind) {
    case CandidateKind::kBlock:
      return "block";
    case CandidateKind::kRegion:
      return "region";
    case CandidateKind::kLoop:
      return "loop";
  }
  return "";
}

const char* trip_kind_text(TripKind trip) {
  switch (trip) {
    case TripKind::kNoLoop:
      return "no loop";
    case TripKind::kStatic:
      return "static";
    case TripKind::kConditional:
      return "conditional";
    case TripKind::kUnknown:
      return "unknown";
  }
  return "";
}

std::string special_text(ptx::SpecialReg special) {
  static constexpr std::array kNames{"%tid.x",   "%tid.y",    "%tid.z",    "%ntid.x",
                                     "%ntid.y",  "%ntid.z",   "%ctaid.x",  "%ctaid.y",
                                     "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z"};
  const auto index = static_cast<size_t>(special);
  return index < kNames.size() ? kNames[index] : "%special";
}

/// Sorted block numbers as text such as "3-7, 9".
std::string ranges_text(const std::vector<BlockId>& blocks) {
  std::string text;
  for (size_t i = 0; i < blocks.size();) {
    size_t end = i;
    while (end + 1 < blocks.size() && blocks[end + 1] == blocks[end] + 1) ++end;
    if (!text.empty()) text += ", ";
    text += end == i ? fmt::format("{}", blocks[i]) : fmt::format("{}-{}", blocks[i], blocks[end]);
    i = end + 1;
  }
  return text;
}

/// The source lines and PTX lines of a set of instructions.
class Lines {
 public:
  explicit Lines(const Kernel& kernel) : kernel_(kernel) {}

  void add(InstrId first, InstrId last) {
    for (InstrId i = first; i <= last && i < kernel_.instructions.size(); ++i) {
      const Instruction& instruction = kernel_.instructions[i];
      if (instruction.ptx_line != 0) {
        first_ptx =
            first_ptx == 0 ? instruction.ptx_line : std::min(first_ptx, instruction.ptx_line);
        last_ptx = std::max(last_ptx, instruction.ptx_line);
      }
      if (instruction.source_line == 0) continue;
      const auto [it, fresh] = ranges_.try_emplace(instruction.source_file);
      SourceRange& range = it->second;
      range.first =
          fresh ? instruction.source_line : std::min(range.first, instruction.source_line);
      range.last = std::max(range.last, instruction.source_line);
    }
  }

  std::vector<SourceRange> source() const {
    std::vector<SourceRange> result;
    for (const auto& [file, range] : ranges_) {
      result.push_back(range);
      if (file < kernel_.source_files.size()) result.back().file = kernel_.source_files[file];
    }
    return result;
  }

  uint32_t first_ptx = 0, last_ptx = 0;

 private:
  const Kernel& kernel_;
  std::map<uint32_t, SourceRange> ranges_;
};

std::string source_text(const std::vector<SourceRange>& source) {
  std::string text;
  for (const SourceRange& range : source) {
    if (!text.empty()) text += ", ";
    text += range.file.empty() ? "line" : range.file.substr(range.file.rfind('/') + 1);
    text += range.first == range.last ? fmt::format(":{}", range.first)
                                      : fmt::format(":{}-{}", range.first, range.last);
  }
  return text;
}

std::string accesses_text(const OffloadTerms& terms) {
  return fmt::format("{} {}, {} {}", terms.n_ld, terms.n_ld == 1 ? "load" : "loads", terms.n_st,
                     terms.n_st == 1 ? "store" : "stores");
}

/// A field of a candidate, "  name         words words ...", broken into lines of `width`.
std::string field(const std::string& name, const std::string& words, size_t width) {
  std::string text = fmt::format("  {:<{}}", name, kIndent - 2);
  size_t column = kIndent;
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    const std::string word = words.substr(at, end - at);
    if (column > kIndent && column + 1 + word.size() > width) {
      text += fmt::format("\n{:{}}", "", kIndent);
      column = kIndent;
    } else if (column > kIndent) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
    at = end + 1;
  }
  return text + "\n";
}

std::string registers_text(const std::vector<std::string>& names, uint32_t bytes) {
  if (names.empty()) return "none";
  return fmt::format("{} ({} B a lane): {}", names.size(), bytes, fmt::join(names, " "));
}

std::string tag_text(const CandidateReport& c) {
  return fmt::format("TX {}, RX {}", c.saves_tx ? "saves" : "costs",
                     c.saves_rx ? "saves" : "costs");
}

std::string shared_use_text(const Kernel& kernel, const SharedUse& use) {
  return fmt::format("{}, {} B a warp, {} ({})", demangled(kernel.symbols[use.symbol].name),
                     use.bytes, use.kind == SharedKind::kTable ? "a table" : "an accumulator",
                     use.annotated ? "annotated" : "proved");
}

std::string candidate_text(const CandidateReport& c, size_t width) {
  const auto field = [width](const char* name, const std::string& words) {
    return compiler::field(name, words, width);
  };
  std::string text = fmt::format("candidate {}: {}, blocks {}\n", c.id, c.kind, c.blocks);
  text +=
      field("source", fmt::format("{}{}PTX lines {}-{}", source_text(c.source),
                                  c.source.empty() ? "" : ", ", c.first_ptx_line, c.last_ptx_line));
  text += field("live-ins", registers_text(c.live_ins, c.live_in_bytes));
  text += field("live-outs", registers_text(c.live_outs, c.live_out_bytes));
  if (!c.shared.empty()) text += field("shared array", c.shared);
  std::string accesses = accesses_text(c.base);
  if (!c.condition.empty())
    accesses += fmt::format("; per iteration {}", accesses_text(c.per_iteration));
  text += field("accesses", accesses);
  text +=
      field("BW_TX + BW_RX", fmt::format("{} = {} and {}{}", c.bw_total, c.bw_tx, c.bw_rx,
                                         c.condition.empty() && c.iterations == 1
                                             ? ""
                                             : fmt::format(", at {} iterations", c.iterations)));
  text += field("tag", tag_text(c));
  text += field("offload if",
                c.within ? fmt::format("the condition of candidate {} does not hold", *c.within)
                : c.condition.empty() ? fmt::format("always ({})", c.trip)
                                      : c.condition);
  return text;
}

}  // namespace

AnalysisReport report_analysis(const Kernel& kernel, const SelectionResult& result) {
  AnalysisReport report;
  report.kernel = kernel.name;
  const auto names = [&](const std::vector<RegId>& registers) {
    std::vector<std::string> list;
    for (RegId reg : registers) list.push_back(kernel.registers[reg].name);
    return list;
  };
  const auto add_block = [&](Lines& lines, BlockId b) {
    const Block& block = kernel.blocks[b];
    if (block.count > 0) lines.add(block.first, block.first + block.count - 1);
  };

  for (const OffloadCandidate& c : result.candidates) {
    Lines lines(kernel);
    for (BlockId b : c.blocks) {
      const Block& block = kernel.blocks[b];
      const InstrId first = b == c.entry ? c.first_instruction : block.first;
      if (block.count > 0)
        lines.add(first, std::min(c.last_instruction, block.first + block.count - 1));
    }
    CandidateReport r;
    r.id = c.id;
    if (c.within != kNone) r.within = c.within;
    r.kind = kind_text(c.kind);
    r.blocks = ranges_text(c.blocks);
    r.source = lines.source();
    r.first_ptx_line = lines.first_ptx;
    r.last_ptx_line = lines.last_ptx;
    r.live_ins = names(c.live_ins);
    for (ptx::SpecialReg special : c.special_live_ins) r.live_ins.push_back(special_text(special));
    r.live_outs = names(c.live_outs);
    r.live_in_bytes = c.live_in_bytes;
    r.live_out_bytes = c.live_out_bytes;
    if (c.shared.kind != SharedKind::kNone) r.shared = shared_use_text(kernel, c.shared);
    r.base = c.base;
    r.per_iteration = c.per_iteration;
    r.terms = c.terms;
    r.iterations = c.iterations;
    r.bw_tx = c.tx.text();
    r.bw_rx = c.rx.text();
    r.bw_total = (c.tx + c.rx).text();
    r.saves_tx = c.saves_tx;
    r.saves_rx = c.saves_rx;
    r.trip = trip_kind_text(c.trip);
    if (c.trip == TripKind::kConditional) r.condition = condition_text(kernel, c.condition);
    report.candidates.push_back(std::move(r));
  }

  for (const Refusal& refusal : result.refusals) {
    Lines lines(kernel);
    if (refusal.kind == CandidateKind::kLoop) {
      for (const Loop& loop : kernel.loops) {
        if (loop.header != refusal.block) continue;
        for (BlockId b : loop.blocks) add_block(lines, b);
      }
    } else {
      add_block(lines, refusal.block);
    }
    RefusalReport r;
    r.kind = kind_text(refusal.kind);
    r.block = refusal.block;
    r.source = lines.source();
    r.first_ptx_line = lines.first_ptx;
    r.last_ptx_line = lines.last_ptx;
    r.reason = reason_text(refusal.reason);
    if (refusal.instruction != kNone)
      r.ptx_line = kernel.instructions[refusal.instruction].ptx_line;
    if (refusal.reason == RefusalReason::kSavesNothing &&
        refusal.terms.n_ld + refusal.terms.n_st > 0) {
      r.detail =
          fmt::format("{} = {} and {}, with {} live-in, {} live-out, {}",
                      (refusal.tx + refusal.rx).text(), refusal.tx.text(), refusal.rx.text(),
                      refusal.terms.reg_tx, refusal.terms.reg_rx, accesses_text(refusal.terms));
    }
    report.refusals.push_back(std::move(r));
  }
  return report;
}

std::string format_analysis(const Kernel& kernel, const SelectionResult& result, size_t width) {
  const AnalysisReport report = report_analysis(kernel, result);
  std::string text = fmt::format("kernel {}: {} {}\n", report.kernel, report.candidates.size(),
                                 report.candidates.size() == 1 ? "candidate" : "candidates");
  for (const CandidateReport& c : report.candidates) text += "\n" + candidate_text(c, width);
  if (!report.refusals.empty()) text += "\nrefused\n";
  for (const RefusalReport& r : report.refusals) {
    std::string why = r.reason;
    if (r.ptx_line != 0) why += fmt::format(" (PTX line {})", r.ptx_line);
    if (!r.detail.empty()) why += ": " + r.detail;
    const std::string where = source_text(r.source);
    if (!where.empty()) why = where + ": " + why;
    text += field(fmt::format("{} {}", r.kind, r.block), why, width);
  }
  return text;
}

std::string source_lines(const Kernel& kernel, const OffloadCandidate& candidate) {
  SelectionResult one;
  one.candidates.push_back(candidate);
  const AnalysisReport report = report_analysis(kernel, one);
  std::string text;
  for (const SourceRange& r : report.candidates.front().source) {
    if (!text.empty()) text += ", ";
    text += r.first == r.last ? fmt::format("{}:{}", r.file, r.first)
                              : fmt::format("{}:{}-{}", r.file, r.first, r.last);
  }
  return text;
}

}  // namespace nearwarp::compiler
