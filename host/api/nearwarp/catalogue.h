// The catalogue of what there is: names of programs, machines, policies and other files,
// their keys, what a file says with all values in effect, and the devices here.
#pragma once

#include <nearwarp/configuration.h>
#include <nearwarp/failure.h>
#include <nearwarp/texts.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nearwarp {

/// Kinds of things that can be listed: "workloads", "machines", "policies", "energy", "area",
/// "dram", "experiments".
NEARWARP_API std::vector<std::string> catalogue_kinds();

/// A thing that has a name.
struct NEARWARP_API CatalogueEntry {
  /// A parameter that a workload's name may set: "decode-step:batch=8".
  struct Parameter {
    std::string name, range;
  };
  std::string name, description;
  std::string source;  ///< the suite or paper that a workload follows; else empty
  std::vector<Parameter> parameters = {};
  /// Several names are meant: those of workloads in the place of "NAME".
  bool stands_for_several = false;
  /// Why a file cannot be loaded; it has no description then.
  std::optional<Failure> failure = {};

  /// Its line in `nearwarp list`: the description and what there is besides.
  std::string text() const;
};
/// All of a kind, with those that cannot be loaded.
NEARWARP_API Expected<std::vector<CatalogueEntry>> catalogue(const std::string& kind);
/// The document of `nearwarp list --json` (docs/json.md).
NEARWARP_API Expected<std::string> catalogue_document(const std::string& kind);

/// Files that can be shown: "machine", "policy", "energy", "area", "dram", "experiment".
NEARWARP_API std::vector<std::string> file_kinds();
/// Names of the files of such a kind; none of a kind that is not there.
NEARWARP_API std::vector<std::string> file_names(const std::string& kind);

/// A key that can be changed, and the words that it can be, if it is no number.
struct KeyWords {
  std::string name, unit, doc;
  std::vector<std::string> words;
};
/// The keys of a file; all that files of the kind can have, if `name` is empty. Experiments have
/// none.
NEARWARP_API Expected<std::vector<KeyWords>> key_words(const std::string& kind,
                                                       const std::string& name = {});

/// A file with the values in effect.
struct ShownFile {
  std::string kind, name, path;
  std::vector<std::string> changes;
  std::vector<Key> keys;  ///< without sources; none of experiments
  std::string text;       ///< TOML with every key's meaning and source, which can be loaded
  std::string document;   ///< as `nearwarp show --json` writes it (docs/json.md)
};
NEARWARP_API Expected<ShownFile> show(const std::string& kind, const std::string& name_or_path,
                                      Texts changes = {});

/// A GPU on which simulated systems can be stepped.
struct CudaDevice {
  int index = 0;  ///< BatchOptions::device
  std::string name, architecture;
  uint32_t multiprocessors = 0, clock_mhz = 0;
  uint64_t memory_bytes = 0;
  uint32_t systems_at_once = 0;
  uint32_t least_warps = 0, most_warps = 0;  ///< warps that step a system
};
struct Devices {
  unsigned processors = 0;  ///< processors of the CPU that this process may use
  std::vector<CudaDevice> cuda;
  std::string why_no_cuda;  ///< empty if there are some
};
NEARWARP_API Devices devices();

}  // namespace nearwarp
