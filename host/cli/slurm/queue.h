// Submits job arrays and asks for the states of their tasks, by Slurm's own programs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/cli/slurm/options.h"

namespace nearwarp::cli {

/// A job array to be submitted.
struct JobArray {
  std::string name;
  std::string script;           ///< path
  std::string log;              ///< path, "%a" being the task's number
  std::vector<uint32_t> tasks;  ///< numbers of its tasks
};

/// Submits a job array; returns the job's number. Throws nearwarp::Error with what sbatch said.
std::string submit(const JobArray& array, const SlurmOptions& options);

struct TaskState {
  std::string state;   ///< Slurm's word, e.g. "RUNNING"
  std::string reason;  ///< why the task waits
  bool ended() const;
  bool waits() const { return state == "PENDING"; }
};

/// The states of tasks by job and number.
class TaskStates {
 public:
  void add(const std::string& job, uint32_t task, TaskState state);
  /// Sets the state of all other tasks of the job: squeue has one line for an array that never
  /// began.
  void add_rest(const std::string& job, TaskState state);
  /// The state of a task; nullptr if Slurm does not know the task any more.
  const TaskState* find(const std::string& job, uint32_t task) const;
  bool all_ended() const;

 private:
  std::map<std::pair<std::string, uint32_t>, TaskState> tasks_;
  std::map<std::string, TaskState> rest_;
};

/// The states of these jobs' tasks that Slurm still knows: it forgets them minutes after their end.
/// Empty if squeue does not answer; `why` is what it said then.
std::optional<TaskStates> task_states(const std::set<std::string>& jobs, std::string& why);

/// How a task ended that squeue does not know any more, e.g. "TIMEOUT"; empty where the cluster
/// keeps no accounts.
std::string accounted_state(const std::string& job, uint32_t task);

}  // namespace nearwarp::cli
