// Reads machine code of GPUs, which are ELF files.
//
// Registers per thread are in section .nv.info, a list of attributes {format, attribute, value}:
// EIATTR_REGCOUNT has the index of the function's symbol and the number. Before sm_90 the number is
// also the upper byte of sh_info of the function's section .text.NAME. After linking, that byte
// lacks the registers of callees, so it is used only where there is no attribute.
#include "host/functional/cudart/code/cubin.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "host/core/error.h"

namespace nearwarp::cudart {

namespace {

constexpr uint16_t kMachineCuda = 190;  // EM_CUDA
constexpr uint32_t kInfoSection = 0x70000000;
constexpr uint8_t kSizedValue = 4;  // EIFMT_SVAL: a size and so many bytes; others have no more
constexpr uint8_t kRegisterCount = 0x2f;  // EIATTR_REGCOUNT
constexpr uint32_t kMostRegisters = 255;  // of a thread, on every GPU so far
constexpr std::string_view kText = ".text.";

[[noreturn]] void damaged_code(const std::string& what) {
  throw Error("damaged machine code: " + what + " - build the application again");
}

class Reader {
 public:
  explicit Reader(std::string_view elf) : elf_(elf) {}

  Cubin read() {
    header_ = at<Elf64_Ehdr>(elf_, 0);
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
        header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB)
      damaged_code("it is no 64-bit ELF file");
    if (header_.e_machine != kMachineCuda)
      damaged_code(
          fmt::format("it is for machine {} instead of {}", header_.e_machine, kMachineCuda));
    read_sections();
    for (const Elf64_Shdr& s : sections_)
      if (s.sh_type == kInfoSection) read_attributes(s);
    for (const Elf64_Shdr& s : sections_) {
      const std::string_view name = name_of(s);
      const uint32_t count = s.sh_info >> 24;
      if (s.sh_type == SHT_PROGBITS && name.starts_with(kText) && count != 0)
        result_.registers.try_emplace(std::string(name.substr(kText.size())), count);
    }
    result_.linked = header_.e_type == ET_EXEC;
    return std::move(result_);
  }

 private:
  /// A copy of the structure at `offset`.
  template <class T>
  static T at(std::string_view bytes, uint64_t offset) {
    if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) damaged_code("it ends early");
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
  }

  void read_sections() {
    if (header_.e_shoff == 0) return;
    if (header_.e_shentsize != sizeof(Elf64_Shdr)) damaged_code("its sections have another size");
    // With many sections, the first one has their number and the index of the section of names.
    const auto first = at<Elf64_Shdr>(elf_, header_.e_shoff);
    const uint64_t count = header_.e_shnum != 0 ? header_.e_shnum : first.sh_size;
    if (count > (elf_.size() - header_.e_shoff) / sizeof(Elf64_Shdr))
      damaged_code("it has fewer sections than it says");
    for (uint64_t i = 0; i < count; ++i)
      sections_.push_back(at<Elf64_Shdr>(elf_, header_.e_shoff + i * sizeof(Elf64_Shdr)));
    names_ = contents(
        section(header_.e_shstrndx != SHN_XINDEX ? header_.e_shstrndx : uint64_t{first.sh_link}));
  }

  const Elf64_Shdr& section(uint64_t index) const {
    if (index >= sections_.size()) damaged_code(fmt::format("it has no section {}", index));
    return sections_[index];
  }
  std::string_view contents(const Elf64_Shdr& s) const {
    if (s.sh_type == SHT_NOBITS) return {};
    if (s.sh_offset > elf_.size() || s.sh_size > elf_.size() - s.sh_offset)
      damaged_code("a section lies outside of it");
    return elf_.substr(s.sh_offset, s.sh_size);
  }
  static std::string_view text_at(std::string_view table, uint64_t offset) {
    if (offset >= table.size()) damaged_code("a name lies outside of its table");
    const std::string_view rest = table.substr(offset);
    const size_t end = rest.find('\0');
    if (end == rest.npos) damaged_code("a name has no end");
    return rest.substr(0, end);
  }
  std::string_view name_of(const Elf64_Shdr& s) const { return text_at(names_, s.sh_name); }

  /// The name of the function that entry `index` of the table of symbols stands for.
  std::string symbol_name(const Elf64_Shdr& table, uint64_t index) const {
    const auto symbol = at<Elf64_Sym>(contents(table), index * sizeof(Elf64_Sym));
    return std::string(text_at(contents(section(table.sh_link)), symbol.st_name));
  }

  void read_attributes(const Elf64_Shdr& s) {
    struct Attribute {
      uint8_t format, attribute;
      uint16_t value;
    };
    struct Count {
      uint32_t symbol, registers;
    };
    const std::string_view all = contents(s);
    for (uint64_t offset = 0; offset < all.size();) {
      const auto a = at<Attribute>(all, offset);
      offset += sizeof(a);
      if (a.format != kSizedValue) continue;
      if (a.value > all.size() - offset) damaged_code("an attribute ends early");
      if (a.attribute == kRegisterCount) {
        const auto count = at<Count>(all.substr(offset, a.value), 0);
        if (count.registers > kMostRegisters)
          damaged_code(fmt::format("a kernel with {} registers", count.registers));
        if (count.registers != 0)
          result_.registers[symbol_name(section(s.sh_link), count.symbol)] = count.registers;
      }
      offset += a.value;
    }
  }

  std::string_view elf_, names_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
  Cubin result_;
};

}  // namespace

Cubin read_cubin(std::string_view elf) { return Reader(elf).read(); }

}  // namespace nearwarp::cudart
