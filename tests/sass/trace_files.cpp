// Accel-Sim traces for tests.
#include "tests/sass/trace_files.h"

#include <fmt/format.h>
#include <lzma.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "host/recording/trace_replay.h"

namespace nearwarp::testing {

namespace fs = std::filesystem;

TraceFolder::TraceFolder() {
  path_ = (fs::temp_directory_path() / "nearwarp-sass-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary folder");
}
TraceFolder::~TraceFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}
std::string TraceFolder::write(const std::string& name, const std::string& content) const {
  fs::remove(file(name));  // some file systems flush a file that is overwritten, which takes long
  std::ofstream(file(name), std::ios::binary) << content;
  return file(name);
}

std::string xz(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  const auto* in = reinterpret_cast<const uint8_t*>(text.data());
  if (lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, nullptr, in, text.size(),
                              reinterpret_cast<uint8_t*>(out.data()), &size, out.size()) != LZMA_OK)
    throw std::runtime_error("xz");
  return out.substr(0, size);
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);  // as the program zstd does
  const size_t size = ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size());
  ZSTD_freeCCtx(context);
  return out.substr(0, size);
}

std::string TraceText::header() const {
  std::string text = fmt::format(
      "-kernel name = {}\n-kernel id = 1\n-grid dim = ({},{},{})\n-block dim = ({},{},{})\n"
      "-shmem = {}\n-nregs = {}\n-binary version = {}\n-cuda stream id = {}\n"
      "-shmem base_addr = 0x00007f3a00000000\n-local mem base_addr = 0x00007f3a02000000\n"
      "-nvbit version = 1.5.5\n-accelsim tracer version = {}\n",
      name, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, registers, binary,
      stream, version);
  if (line_info) text += "-enable lineinfo = 1\n";
  return text + "\n#traces format = ...\n";
}

void TraceText::thread_block(const std::string& position, const std::vector<std::string>& warps) {
  body += "#BEGIN_TB\n\nthread block = " + position + "\n";
  for (size_t w = 0; w < warps.size(); ++w)
    body += fmt::format("\nwarp = {}\ninsts = {}\n{}", w,
                        std::count(warps[w].begin(), warps[w].end(), '\n'), warps[w]);
  body += "\n#END_TB\n\n";
}

namespace {

using compiler::Instruction;
using ptx::Opcode;
using ptx::Space;

std::string opcode_of(const Instruction& in) {
  const char* bits = "";
  const uint32_t bytes = ptx::size_of(in.mod.type) * in.mod.vector;
  if (bytes == 8) bits = ".64";
  if (bytes == 16) bits = ".128";
  if (bytes == 1) bits = ".U8";
  const bool shared = in.mod.space == Space::kShared;
  const bool f32 = in.mod.type == ptx::Type::kF32;
  switch (in.op) {
    case Opcode::kLd:
      if (!runtime::leaves_record(in)) return "LDC";
      return fmt::format("{}{}", shared ? "LDS" : "LDG.E", bits);
    case Opcode::kSt:
      return fmt::format("{}{}", shared ? "STS" : "STG.E", bits);
    case Opcode::kAtom:
      return shared ? "ATOMS.ADD" : "ATOMG.E.ADD.STRONG.GPU";
    case Opcode::kRed:
      return "RED.E.ADD.STRONG.GPU";
    case Opcode::kBra:
      return "BRA";
    case Opcode::kExit:
    case Opcode::kRet:
      return "EXIT";
    case Opcode::kBar:
      return "BAR.SYNC.DEFER_BLOCKING";
    case Opcode::kMov:
      return "MOV";
    case Opcode::kSetp:
      return f32 ? "FSETP.GT.AND" : "ISETP.GE.AND";
    case Opcode::kMad:
    case Opcode::kFma:
      return f32 ? "FFMA" : "IMAD";
    case Opcode::kMul:
      return f32 ? "FMUL" : "IMUL";
    default:
      return f32 ? "FADD" : "IADD3";
  }
}

/// Writes the runs of warps as lines.
class Emitter {
 public:
  Emitter(const compiler::Kernel& kernel, AddressMode mode, uint32_t version)
      : kernel_(kernel), mode_(mode), version_(version) {}

  void begin_warp() {
    finish_run();
    warps.emplace_back();
  }
  void run(const runtime::BlockRun& run) {
    finish_run();
    mask_ = run.mask;
    next_ = kernel_.blocks[run.block].first;
    end_ = next_ + kernel_.blocks[run.block].count;
  }
  void access(const runtime::MemoryAccess& access) {
    while (next_ < access.instruction) line(mask_, nullptr);
    line(access.mask, access.address);
  }
  void finish_run() {
    while (next_ < end_) line(mask_, nullptr);
  }

  std::vector<std::string> warps;

 private:
  std::string registers(const std::vector<compiler::RegId>& ids) const {
    std::string text;
    uint32_t n = 0;
    for (const compiler::RegId id : ids) {
      if (id == compiler::kNone || kernel_.registers[id].type == ptx::Type::kPred || n == 1)
        continue;
      text += fmt::format(" R{}", kernel_.registers[id].physical);
      ++n;
    }
    return fmt::format("{}{}", n, text);
  }

  void line(uint32_t mask, const uint64_t* address) {
    const Instruction& in = kernel_.instructions[next_];
    const bool memory = runtime::leaves_record(in);
    if (memory && address == nullptr) mask = 0;  // its guard was false in all lanes
    std::string& out = warps.back();
    if (version_ < 3) out += "0 0 0 0 ";
    out += fmt::format("{:04x} {:08x} {} {} ", next_ * 16, mask, registers(in.dsts), opcode_of(in));
    out += in.address.base != compiler::kNone ? registers({in.address.base}) : registers({});
    if (!memory) {
      out += " 0 \n";
    } else {
      out += fmt::format(" {}", ptx::size_of(in.mod.type) * in.mod.vector);
      addresses(mask, address);
      out += version_ >= 5 ? " 0\n" : " \n";
    }
    ++next_;
  }

  void addresses(uint32_t mask, const uint64_t* address) {
    std::string& out = warps.back();
    std::vector<uint64_t> list;
    for (uint32_t m = mask; m != 0; m &= m - 1) list.push_back(address[__builtin_ctz(m)]);
    bool strided = mode_ == AddressMode::kStride;
    for (size_t i = 2; strided && i < list.size(); ++i)
      strided = list[i] - list[i - 1] == list[1] - list[0];
    if (mode_ == AddressMode::kList || mask == 0) {
      out += " 0";
      for (const uint64_t a : list) out += fmt::format(" {:#x}", a);
      return;
    }
    out += fmt::format(" {} {:#x}", strided ? 1 : 2, list[0]);
    if (strided) out += fmt::format(" {}", list.size() > 1 ? int64_t(list[1] - list[0]) : 0);
    for (size_t i = 1; !strided && i < list.size(); ++i)
      out += fmt::format(" {}", int64_t(list[i] - list[i - 1]));
  }

  const compiler::Kernel& kernel_;
  AddressMode mode_;
  uint32_t version_;
  uint32_t mask_ = 0, next_ = 0, end_ = 0;
};

}  // namespace

std::string trace_of(const runtime::Recording& recording, uint32_t launch, AddressMode mode,
                     uint32_t version) {
  const runtime::LaunchRecord& record = recording.launches[launch];
  const compiler::Kernel& kernel = *recording.kernels[record.kernel];
  TraceText text;
  text.name = kernel.name;
  text.grid = {record.grid.x, record.grid.y, record.grid.z};
  text.block = {record.block.x, record.block.y, record.block.z};
  text.shared = record.shared_bytes;
  text.registers = kernel.num_physical;
  text.version = version;
  Emitter emitter(kernel, mode, version);
  uint64_t current = 0;
  const auto end_block = [&] {
    emitter.finish_run();
    const runtime::Dim3& g = record.grid;
    text.thread_block(
        fmt::format("{},{},{}", current % g.x, current / g.x % g.y, current / g.x / g.y),
        emitter.warps);
    emitter.warps.clear();
  };
  runtime::TraceVisitor visitor;
  visitor.warp = [&](uint64_t block, uint32_t) {
    if (block != current) end_block();
    current = block;
    emitter.begin_warp();
  };
  visitor.run = [&](const runtime::BlockRun& run) { emitter.run(run); };
  visitor.access = [&](const runtime::MemoryAccess& access) { emitter.access(access); };
  runtime::replay(recording, launch, visitor);
  end_block();
  return text.text();
}

std::string write_traces(const runtime::Recording& recording, const TraceFolder& folder,
                         AddressMode mode, uint32_t version) {
  std::string list;
  for (const runtime::Allocation& a : recording.allocations)
    list += fmt::format("MemcpyHtoD,{:#018x},{}\n", a.address, a.bytes);
  for (uint32_t i = 0; i < recording.launches.size(); ++i) {
    const std::string name = fmt::format("kernel-{}.traceg", i + 1);
    folder.write(name, trace_of(recording, i, mode, version));
    list += name + "\n";
  }
  return folder.write("kernelslist.g", list);
}

}  // namespace nearwarp::testing
