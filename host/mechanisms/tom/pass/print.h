// The analysis of a kernel's offloading candidates as data for reports and as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/mechanisms/tom/pass/candidates.h"

namespace nearwarp::compiler {

/// Lines of one source file that a piece of code comes from.
struct SourceRange {
  std::string file;  ///< as in the PTX's .file directive; empty if the PTX has none
  uint32_t first = 0, last = 0;
};

/// An OffloadCandidate in words.
struct CandidateReport {
  uint32_t id = 0;
  std::optional<uint32_t> within;  ///< OffloadCandidate::within
  std::string kind;                ///< "block", "region", "loop"
  std::string blocks;              ///< e.g. "3-7, 9"
  std::vector<SourceRange> source;
  uint32_t first_ptx_line = 0, last_ptx_line = 0;
  std::vector<std::string> live_ins, live_outs;    ///< register names, special registers included
  uint32_t live_in_bytes = 0, live_out_bytes = 0;  ///< per lane
  std::string shared;  ///< the shared array that is sent along; empty: none
  OffloadTerms base, per_iteration, terms;
  int64_t iterations = 0;              ///< iterations for which `terms`, bw_tx and bw_rx are given
  std::string bw_tx, bw_rx, bw_total;  ///< in addresses, exact decimals
  bool saves_tx = false, saves_rx = false;
  std::string trip;       ///< "no loop", "static", "conditional", "unknown"
  std::string condition;  ///< empty unless conditional
};

/// A Refusal in words.
struct RefusalReport {
  std::string kind;  ///< "block" or "loop"
  uint32_t block = 0;
  std::vector<SourceRange> source;
  uint32_t first_ptx_line = 0, last_ptx_line = 0;
  std::string reason;
  uint32_t ptx_line = 0;  ///< line of the offending instruction; 0 if there is none
  std::string detail;     ///< the equations' values, if they are the reason
};

struct AnalysisReport {
  std::string kernel;
  std::vector<CandidateReport> candidates;
  std::vector<RefusalReport> refusals;
};

/// The result of analyze_offloading() in words.
AnalysisReport report_analysis(const Kernel& kernel, const SelectionResult& result);

/// The report as text of at most `width` columns, except for names that are longer. It ends with a
/// line feed.
std::string format_analysis(const Kernel& kernel, const SelectionResult& result, size_t width = 80);

/// The source lines of a candidate, such as "file.cu:41-57", separated by commas if they are in
/// several files; empty without line information.
std::string source_lines(const Kernel& kernel, const OffloadCandidate& candidate);

}  // namespace nearwarp::compiler
