// A Slurm cluster of one node on this machine, made of Debian's packages.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/cli/program.h"

namespace nearwarp::testing {

/// The standard output of a command of the shell.
std::string output_of_shell(const std::string& command);

/// munged, slurmctld and slurmd as ordinary processes with configuration, sockets and state in a
/// folder of their own; Slurm's commands and nearwarp find them by the environment. Gone
/// afterwards.
class Cluster {
 public:
  Cluster();
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Why it does not run; empty if it does.
  const std::string& why_not() const { return why_not_; }

 private:
  void start(const std::vector<std::string>& words, const std::string& log);
  bool comes_up();
  std::string logs() const;

  TemporaryFolder folder_;
  std::string why_not_;
  std::vector<pid_t> daemons_;
};

}  // namespace nearwarp::testing
