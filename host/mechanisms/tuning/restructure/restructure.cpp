// Rewrites a loop in PTX so that each warp works on consecutive elements.
#include "host/mechanisms/tuning/restructure/restructure.h"

#include <fmt/format.h>

#include <vector>

#include "host/core/error.h"
#include "host/mechanisms/tuning/restructure/order.h"
#include "host/mechanisms/tuning/restructure/turns.h"

namespace nearwarp::compiler {

namespace {

constexpr const char* kPrefix = "%nw_";  // added registers begin with it

/// A text by lines, which are numbered from 1.
class Lines {
 public:
  explicit Lines(const std::string& text) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      lines_.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  std::string& at(uint32_t line) { return lines_[line - 1]; }
  size_t size() const { return lines_.size(); }
  std::string text() const {
    std::string all;
    for (const std::string& line : lines_) all += line + "\n";
    return all;
  }

 private:
  std::vector<std::string> lines_;
};

/// Rewrites the statements of one loop.
class Rewriter {
 public:
  Rewriter(const std::string& ptx, const std::string& path, const Kernel& kernel,
           const Turns& turns)
      : lines_(ptx), path_(path), kernel_(kernel), turns_(turns) {}

  std::string run(bool of_block) {
    const std::string index = kernel_.registers[turns_.index].name;
    const Instruction& begin = at(turns_.begin);
    const std::string bound = last_operand(at(turns_.bounded[0]));
    if (statement(begin).find(index + ",") == std::string::npos)
      refuse(path_, begin, "the index is a register of a function that was inlined",
             "right is a loop of the kernel's own");
    for (const InstrId i : turns_.bounded) replace_last_operand(at(i), "%nw_r14");
    replace_last_operand(at(turns_.step), "%nw_r15");
    statement(begin) += "\n" + prologue(index, bound, of_block);
    go_around(index);
    declare();
    return lines_.text();
  }

 private:
  const Instruction& at(InstrId i) const { return kernel_.instructions[i]; }
  std::string& statement(const Instruction& in) { return lines_.at(in.ptx_line); }
  size_t last_operand_at(const Instruction& in) {
    const std::string& text = statement(in);
    const size_t end = text.rfind(';'), comma = text.rfind(',');
    if (end == std::string::npos || comma == std::string::npos || comma > end ||
        text.find(';') != end)
      refuse(path_, in, "a statement of the loop does not stand in a line of its own",
             "right is PTX as nvcc writes it");
    return comma + 1;
  }
  std::string last_operand(const Instruction& in) {
    const size_t begin = last_operand_at(in);
    const std::string& text = statement(in);
    const size_t word = text.find_first_not_of(" \t", begin);
    return text.substr(word, text.rfind(';') - word);
  }
  void replace_last_operand(const Instruction& in, const std::string& by) {
    const size_t begin = last_operand_at(in);
    std::string& text = statement(in);
    text = text.substr(0, begin) + " " + by + text.substr(text.rfind(';'));
  }

  /// The code behind the statement that sets the index to the thread's number. It computes the
  /// thread's first element, the end of its warp's elements, and the step. If the threads do not
  /// make up whole warps, all three stay as they were.
  std::string prologue(const std::string& index, const std::string& bound, bool of_block) const {
    std::string text;
    const auto add = [&](const std::string& line) { text += "\t" + line + "\n"; };
    add("// consecutive elements for each warp");
    add("mov.u32 \t%nw_r1, %ntid.x;");
    add("mov.u32 \t%nw_r2, %nctaid.x;");
    add(of_block ? "mov.u32 \t%nw_r3, %nw_r1;" : "mul.lo.s32 \t%nw_r3, %nw_r1, %nw_r2;");
    add("and.b32 \t%nw_r4, %nw_r3, 31;");
    add("setp.eq.u32 \t%nw_p1, %nw_r4, 0;");
    std::string whole = "%nw_p1", threads = "%nw_r3";
    if (turns_.block_threads) {  // the program's constant for it counts if the launch differs
      add(fmt::format("setp.eq.and.u32 \t%nw_p2, %nw_r1, {}, %nw_p1;", *turns_.block_threads));
      add(of_block ? fmt::format("mov.u32 \t%nw_r5, {};", *turns_.block_threads)
                   : fmt::format("mul.lo.s32 \t%nw_r5, %nw_r2, {};", *turns_.block_threads));
      whole = "%nw_p2";
      threads = "%nw_r5";
    }
    add(fmt::format("mov.u32 \t%nw_r16, {};", bound));
    add(turns_.is_signed ? "max.s32 \t%nw_r6, %nw_r16, 0;" : "mov.u32 \t%nw_r6, %nw_r16;");
    // The number of rounds is that of elements over that of threads, rounded up.
    add("div.u32 \t%nw_r7, %nw_r6, %nw_r3;");
    add("mul.lo.s32 \t%nw_r8, %nw_r7, %nw_r3;");
    add("setp.lt.u32 \t%nw_p3, %nw_r8, %nw_r6;");
    add("selp.u32 \t%nw_r9, 1, 0, %nw_p3;");
    add("add.s32 \t%nw_r7, %nw_r7, %nw_r9;");
    // The warp's elements are computed in 64 bits, and limited to the bound.
    add(fmt::format("shr.u32 \t%nw_r10, {}, 5;", index));
    add(fmt::format("and.b32 \t%nw_r11, {}, 31;", index));
    add("mul.wide.u32 \t%nw_rd1, %nw_r10, %nw_r7;");
    add("shl.b64 \t%nw_rd1, %nw_rd1, 5;");
    add("cvt.u64.u32 \t%nw_rd2, %nw_r11;");
    add("add.s64 \t%nw_rd1, %nw_rd1, %nw_rd2;");
    add("mul.wide.u32 \t%nw_rd3, %nw_r7, 32;");
    add("add.s64 \t%nw_rd3, %nw_rd1, %nw_rd3;");
    add("cvt.u64.u32 \t%nw_rd4, %nw_r6;");
    add("min.u64 \t%nw_rd1, %nw_rd1, %nw_rd4;");
    add("min.u64 \t%nw_rd3, %nw_rd3, %nw_rd4;");
    add("cvt.u32.u64 \t%nw_r12, %nw_rd1;");
    add("cvt.u32.u64 \t%nw_r13, %nw_rd3;");
    add(fmt::format("selp.b32 \t{0}, %nw_r12, {0}, {1};", index, whole));
    add(fmt::format("selp.b32 \t%nw_r14, %nw_r13, %nw_r16, {};", whole));
    text += fmt::format("\tselp.b32 \t%nw_r15, 32, {}, {};", threads, whole);
    return text;
  }

  /// Let threads without elements skip the loop: add a branch in front of the loop's label, to a
  /// new label behind the branch that ends the loop.
  void go_around(const std::string& index) {
    const Loop& loop = kernel_.loops[turns_.loop];
    const Block& latch = kernel_.blocks[loop.latches[0]];
    const Instruction& branch = at(latch.first + latch.count - 1);
    const std::string text = statement(branch);
    const size_t word = text.rfind('$'), end = text.rfind(';');
    const Instruction& first = at(kernel_.blocks[loop.header].first);
    uint32_t line = first.ptx_line;
    const std::string label = word == std::string::npos || end == std::string::npos || end < word
                                  ? ""
                                  : text.substr(word, end - word) + ":";
    while (line > 0 && !label.empty() && lines_.at(line).substr(0, label.size()) != label) --line;
    if (label.empty() || line == 0 || lines_.at(line).size() != label.size())
      refuse(path_, branch, "the loop's label does not stand in a line of its own",
             "right is PTX as nvcc writes it");
    lines_.at(line) =
        fmt::format("\tsetp.ge.{} \t%nw_p0, {}, %nw_r14;\n\t@%nw_p0 bra \t$nw_done;\n{}",
                    turns_.is_signed ? "s32" : "u32", index, label);
    statement(branch) += "\n$nw_done:";
  }

  /// Declare the added registers at the beginning of the kernel's body.
  void declare() {
    bool entered = false;
    for (uint32_t i = 1; i <= lines_.size(); ++i) {
      std::string& line = lines_.at(i);
      entered |= line.find(".entry " + kernel_.name + "(") != std::string::npos ||
                 line.ends_with(".entry " + kernel_.name);
      const size_t brace = entered ? line.find('{') : std::string::npos;
      if (brace == std::string::npos) continue;
      line.insert(brace + 1,
                  "\n\t.reg .pred \t%nw_p<4>;\n\t.reg .b32 \t%nw_r<17>;\n\t.reg .b64 \t%nw_rd<5>;");
      return;
    }
    throw Error(fmt::format("{}: the body of {} is not found - right is PTX as nvcc writes it",
                            path_, kernel_.name));
  }

  Lines lines_;
  const std::string& path_;
  const Kernel& kernel_;
  const Turns& turns_;
};

const Kernel& kernel_of(const Program& program, const std::string& path, const std::string& name) {
  std::string names;
  for (const Kernel& k : program.kernels) names += (names.empty() ? "" : ", ") + k.name;
  const Kernel* found = program.find(name);
  if (name.empty() && program.kernels.size() == 1) found = &program.kernels[0];
  if (found == nullptr)
    throw Error(name.empty() ? fmt::format("{}: several kernels - name one of {}", path, names)
                             : fmt::format("{}: no kernel '{}' - there are {}", path, name, names));
  if (!found->unsupported.empty()) throw Error(found->unsupported);
  return *found;
}

/// The name of the parameter that `text` names, or numbers from 0.
std::string parameter_of(const Kernel& kernel, const std::string& path, const std::string& text) {
  std::string names;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    if (kernel.params[i].name == text || std::to_string(i) == text) return kernel.params[i].name;
    names += (names.empty() ? "" : ", ") + kernel.params[i].name;
  }
  throw Error(fmt::format("{}: {} has no parameter '{}' - right is a number from 0, or one of {}",
                          path, kernel.name, text, names));
}

}  // namespace

std::string restructured(const std::string& ptx, const std::string& path,
                         const Restructuring& what) {
  if (ptx.find(kPrefix) != std::string::npos)
    throw Error(
        fmt::format("{}: registers begin with {} - the file has been restructured before; "
                    "right is PTX as nvcc writes it",
                    path, kPrefix));
  const Program program = compile_ptx(ptx, path);
  const Kernel& kernel = kernel_of(program, path, what.kernel);
  const std::string parameter = parameter_of(kernel, path, what.parameter);
  const Values values(kernel);
  const Turns turns = find_turns(kernel, values, path, parameter, what.of_block);
  prove_order_free(kernel, values, turns, path, what);
  const std::string result = Rewriter(ptx, path, kernel, turns).run(what.of_block);
  compile_ptx(result, path);  // throws if the result is not valid PTX
  return result;
}

}  // namespace nearwarp::compiler
