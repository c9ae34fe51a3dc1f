// Journals: recordings that are written while their programs run, so that a crash loses little. A
// journal is a file of entries, appended in order, each with a hash of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/recording/chunk_ids.h"
#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// Outcomes of the program's calls of the CUDA library.
struct CallSummary {
  std::vector<std::string> unseen;  ///< sentences on failures that the program never asked for
  std::vector<std::string> seen;    ///< sentences on failed launches whose error it asked for
  uint64_t launched = 0;            ///< kernels that the host launched, recorded or not
};

/// Writes a journal. Each entry is written to the file as a whole before the call returns, so a
/// process that is killed loses only the launch under way.
class JournalWriter final : public RecordingSink {
 public:
  /// Creates or replaces the file `path` for a program `name`. Throws nearwarp::Error.
  JournalWriter(const std::string& path, const std::string& name);
  ~JournalWriter() override;
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // All of these throw nearwarp::Error if the disk is full.
  void allocation(const Allocation& allocation) override;
  void kernel(const compiler::Kernel& kernel) override;
  void chunk(const TraceChunk& chunk) override;
  void launch(const LaunchRecord& launch, double execution_seconds) override;
  void truncated() override;
  /// Adds a sentence on a fault of the program.
  void fault(const std::string& message);
  /// Adds the outcomes of calls so far; readers use the last entry.
  void calls(const CallSummary& calls);
  /// Notes that the program has ended by itself.
  void end();

 private:
  void append(uint32_t type, const std::vector<uint8_t>& payload);

  std::string path_;
  int fd_ = -1;
  ChunkIds chunks_;
};

struct Journal {
  Recording recording;
  std::vector<std::string> faults;
  CallSummary calls;
  bool ended = false;    ///< the program ended by itself, rather than by a signal or _exit()
  bool damaged = false;  ///< the last entries are missing or damaged, and were left out
};

/// Read a journal up to its end or the first damaged entry; traces stay in the file and are loaded
/// on demand. Throws nearwarp::Error if the file is missing, no journal, or of another version.
Journal load_journal(const std::string& path, const TraceStore::Options& options = {});

}  // namespace nearwarp::runtime
