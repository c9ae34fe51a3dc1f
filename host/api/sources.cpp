// The sources of configurations' values: a remark in a file, a standard, a default, a change.
#include "host/api/sources.h"

#include <algorithm>

#include "host/config/file_comments.h"
#include "host/config/overrides.h"

namespace nearwarp {

void set_sources(std::vector<Key>& keys, const std::string& path, const std::string& standard,
                 const std::vector<std::string>& changes) {
  const config::FileComments file =
      path.empty() ? config::FileComments() : config::read_comments(path);
  for (Key& key : keys) {
    const bool changed = std::ranges::any_of(changes, [&](const std::string& change) {
      return config::split_override(change).key == key.name;
    });
    const auto remark = file.by_path.find(key.name);
    if (changed)
      key.source = "changed";
    else if (path.empty())
      continue;
    else if (remark != file.by_path.end() && !remark->second.value.empty())
      key.source = remark->second.behind;
    else if (standard != "none" && key.name.starts_with("dram.t"))
      key.source = standard;
    else if (key.source.empty())
      key.source = "default";
  }
}

}  // namespace nearwarp
