// A recording that is written while its program runs, so that what was recorded before a crash is
// kept: a file of entries, appended in order, each with a hash of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/recording/chunk_ids.h"
#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// Outcomes of the program's calls of the device's library.
struct CallSummary {
  std::vector<std::string> unseen;  ///< that failed and nobody asked for the error, in words
  std::vector<std::string> seen;    ///< launches that failed, and the program asked for the error
  uint64_t launched = 0;            ///< kernels by the host, recorded or not
};

/// Writes a journal. Each entry is handed to the operating system as a whole before the call
/// returns: a process that is killed loses the launch that is under way, and nothing before it.
class JournalWriter final : public RecordingSink {
 public:
  /// Creates the file `path`, or replaces it. `name` is the program's. Throws nearwarp::Error.
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
  /// A fault of the program, in words.
  void fault(const std::string& message);
  /// Notes the outcomes of calls so far: the last note counts.
  void calls(const CallSummary& calls);
  /// The program has ended by itself.
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

/// Read a journal as far as it goes; traces stay in the file and are loaded on demand. Throws
/// nearwarp::Error for a file that is missing, no journal, or of another version.
Journal load_journal(const std::string& path, const TraceStore::Options& options = {});

}  // namespace nearwarp::runtime
