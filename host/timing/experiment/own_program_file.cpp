// Reads the tables [program.NAME] of an experiment's file.
#include "host/timing/experiment/own_program_file.h"

#include "host/config/find.h"

namespace nearwarp::experiment {
namespace {

namespace fs = std::filesystem;

/// A path of the file, relative to the file's folder.
std::string from_folder(const std::string& path, const fs::path& folder) {
  return path.empty() || folder.empty() ? path : (folder / path).string();
}

PtxBuffer read_buffer(Section& section, const fs::path& folder) {
  PtxBuffer b;
  b.name = section.text("name", true);
  b.bytes = section.whole("bytes", 1, uint64_t{1} << 36, 0);
  if (b.bytes == 0) section.fail("'bytes' is missing", nullptr, "bytes = 4096");
  b.fill = section.choice<std::string>(
      "fill", "zero", {{"zero", "zero"}, {"index", "index"}, {"random", "random"}});
  b.file = from_folder(section.text("file", false), folder);
  section.finish();
  return b;
}

PtxArgument read_argument(const Section& section, const toml::node& node) {
  if (const auto name = node.value_exact<std::string>()) return *name;
  if (const auto whole = node.value_exact<int64_t>()) return *whole;
  if (const auto number = node.value_exact<double>()) return *number;
  section.fail("'args' holds something else than texts and numbers", &node,
               "names of buffers and numbers, e.g. args = [\"x\", \"y\", 1024, 2.0]");
}

PtxLaunch read_launch(Section& section, const std::vector<PtxBuffer>& buffers) {
  PtxLaunch l;
  l.kernel = section.text("kernel", true);
  l.grid = section.extent("grid", {1, 1, 1});
  l.block = section.extent("block", {1, 1, 1});
  l.shared_bytes = static_cast<uint32_t>(section.whole("shared", 0, 1 << 20, 0));
  l.times = section.whole("times", 1, 1'000'000, 1);
  Names names;
  for (const PtxBuffer& b : buffers) names.push_back(b.name);
  if (const toml::node* node = section.find("args"); node != nullptr) {
    if (!node->is_array()) section.fail("'args' is no list", node, "args = [\"x\", 1024]");
    for (const toml::node& element : *node->as_array()) {
      l.arguments.push_back(read_argument(section, element));
      const auto* name = std::get_if<std::string>(&l.arguments.back());
      if (name != nullptr && std::find(names.begin(), names.end(), *name) == names.end())
        section.fail(fmt::format("there is no buffer '{}'", *name), &element,
                     "name one of [[program.NAME.buffer]]" + config::suggestion(*name, names));
    }
  }
  section.finish();
  return l;
}

}  // namespace

OwnProgram read_own_program(Section& section, const fs::path& folder) {
  OwnProgram p;
  p.name = section.name();
  p.place = section.where();
  if (p.name.find_first_of("+@/, ") != std::string::npos)
    section.fail("a program's name has none of + @ / , and blanks", nullptr, "[program.cg]");
  p.app = section.text("app", false);
  p.recording = from_folder(section.text("recording", false), folder);
  p.ptx = from_folder(section.text("ptx", false), folder);
  if ((p.app.empty() ? 0 : 1) + (p.recording.empty() ? 0 : 1) + (p.ptx.empty() ? 0 : 1) != 1)
    section.fail("it is to be one of an application, a recording and PTX", nullptr,
                 "app = \"./cg\", or recording = \"cg.nwtrace\", or ptx = \"cg.ptx\"");
  if (!p.app.empty()) {
    // A name without a slash is looked for on PATH.
    if (p.app.find('/') != std::string::npos) p.app = from_folder(p.app, folder);
    p.arguments = section.list("args", false);
    p.kernels = section.text("kernels", false);
    p.machine = section.text("machine", false);
    if (config::is_path(p.machine)) p.machine = from_folder(p.machine, folder);
  }
  if (!p.ptx.empty()) {
    for (Section& buffer : section.sections("buffer"))
      p.buffers.push_back(read_buffer(buffer, folder));
    for (Section& launch : section.sections("launch"))
      p.launches.push_back(read_launch(launch, p.buffers));
    if (p.launches.empty())
      section.fail("PTX without a launch does nothing", nullptr,
                   "[[program.NAME.launch]] with kernel, grid, block, args");
  }
  section.finish();
  return p;
}

}  // namespace nearwarp::experiment
