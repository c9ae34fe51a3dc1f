// Finds the differences between two runs, or between the runs of two documents.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "host/timing/compare/decomposition.h"

namespace nearwarp::compare {

/// A document of `nearwarp run --json`, or lines of a sweep or an experiment.
struct Document {
  std::string path, version;
  /// Effective configuration by key; empty if the document does not have it (a sweep's lines).
  std::vector<std::pair<std::string, std::string>> machine;
  std::vector<nlohmann::ordered_json> runs;  ///< nearwarp.run/1
};

/// Reads nearwarp.run/1, or nearwarp.sweep lines; throws nearwarp::Error for anything else.
Document read_document(const std::string& path);

/// Reads a document of nearwarp.run/1 that is no file; throws what nlohmann::json throws.
Document document_of(const nlohmann::ordered_json& json, const std::string& path);

/// One value that differs.
struct Change {
  std::string name, unit;
  double before = 0, after = 0;
  /// How much it matters: the change over the largest value of the same kind (unit) that the first
  /// run has, of what `of` names.
  double weight = 0;
  /// after / before - 1; infinite where `before` is 0.
  double relative() const;
};

struct RunDifference {
  std::string title;                  ///< of the runs: workload, size, machine, policy
  std::vector<std::string> settings;  ///< names, overrides, status that differ: "policy: a -> b"
  std::string sentence;               ///< compare::sentence()
  std::vector<Change> headlines;      ///< cycles, IPC, energy and traffic of both, changed or not
  std::vector<Change> changes;        ///< cycles, IPC, energy and traffic, then by weight
  size_t compared = 0;                ///< values that both runs have
  std::string certainty;              ///< of samples: how far their cycles may be off; else empty
  std::vector<std::string> only_a, only_b;  ///< counters that one of them has
  Decomposition cycles;                     ///< where those are that differ
};

struct Difference {
  std::vector<std::string> settings;  ///< of the documents: version, machine keys
  std::vector<RunDifference> runs;
  std::vector<std::string> only_a, only_b;  ///< titles of runs without a counterpart
  bool none() const;
};

/// Runs are matched by workload, size, machine, policy and overrides; what is left over,
/// without the overrides, and then by workload alone, if each document has one such run left.
Difference compare(const Document& a, const Document& b);

/// nearwarp.compare/1 (docs/json.md).
nlohmann::ordered_json compare_json(const Difference& difference);

/// For a terminal of this width; of each run at most `most` changes (0: all). Cycles, IPC, energy
/// and traffic of all runs come first, then what is configured differently, then counters.
std::string format(const Difference& difference, size_t most, size_t width = 80);

}  // namespace nearwarp::compare
