// Runs ptxas for the numbers of registers of kernels, and caches its results.
#include "host/functional/cudart/code/ptxas.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "host/core/error.h"
#include "host/core/hash.h"
#include "host/core/temporary_folder.h"
#include "host/functional/cudart/code/cubin.h"

extern char** environ;

namespace nearwarp::cudart {

namespace {

namespace fs = std::filesystem;
using Registers = std::map<std::string, uint32_t>;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return in ? text.str() : std::string();
}

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  return bool(out.flush());
}

/// Runs a program to its end with its output in the file `log`. Returns true if its exit status is
/// 0, or cannot be known because the application ignores SIGCHLD.
bool ran(std::vector<std::string> words, const std::string& log) {
  // $LD_PRELOAD may contain this library, which must not be loaded into the program.
  std::vector<char*> argv, envp;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  for (char** e = environ; *e != nullptr; ++e)
    if (std::strncmp(*e, "LD_PRELOAD=", 11) != 0) envp.push_back(*e);
  envp.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t child = 0;
  const int failure = posix_spawn(&child, argv[0], &files, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&files);
  if (failure != 0) throw Error(fmt::format("cannot run {}: {}", words[0], std::strerror(failure)));
  int status = 0;
  pid_t ended = 0;
  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  return ended < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

Registers assembled(const std::string& program, const std::string& ptx,
                    const std::string& architecture) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const std::string in = file("module.ptx"), out = file("module.cubin"), log = file("log");
  if (!write_file(in, ptx)) throw Error("cannot write " + in + " - free some space");
  const bool well = ran({program, "-arch=" + architecture, "-o", out, in}, log);
  const std::string elf = read_file(out);
  if (!well || elf.empty()) {
    const std::string said = read_file(log);
    throw Error(fmt::format("ptxas could not assemble it for {}: {}", architecture,
                            said.empty() ? "it said nothing" : said.substr(0, said.find('\n'))));
  }
  return read_cubin(elf).registers;
}

// --- Cached results: a checksum, then a line for each kernel -------------------------------------

/// The file of a cached result. Its name is a hash of the PTX, the architecture, and the path, size
/// and date of ptxas.
std::string cache_file(const Ptxas& ptxas, const std::string& ptx,
                       const std::string& architecture) {
  struct stat s {};
  if (stat(ptxas.path.c_str(), &s) != 0) throw Error("there is no " + ptxas.path);
  const std::string key =
      fmt::format("{} {} {} {}\n{}", ptxas.path, s.st_size, s.st_mtime, architecture, ptx);
  return (fs::path(ptxas.cache) / (content_hash(key).hex() + ".registers")).string();
}

bool load(const std::string& file, Registers& registers) {
  const std::string text = read_file(file);
  const size_t end = text.find('\n');
  if (end == text.npos) return false;
  const std::string body = text.substr(end + 1);
  if (text.substr(0, end) != fmt::format("{:016x}", checksum(body))) return false;
  std::istringstream lines(body);
  std::string name;
  for (uint32_t count = 0; lines >> name >> count;) registers[name] = count;
  return true;
}

/// Stores a result; if that fails, ptxas is run again the next time.
void keep(const std::string& file, const Registers& registers) {
  std::string body;
  for (const auto& [name, count] : registers) body += fmt::format("{} {}\n", name, count);
  const std::string temporary = fmt::format("{}.tmp{}", file, getpid());
  if (!write_file(temporary, fmt::format("{:016x}\n", checksum(body)) + body) ||
      rename(temporary.c_str(), file.c_str()) != 0)
    unlink(temporary.c_str());
}

}  // namespace

std::string target_of(const std::string& ptx) {
  constexpr std::string_view kTarget = "\n.target ";
  const size_t at = ptx.find(kTarget);
  if (at == ptx.npos) return "";
  const size_t begin = at + kTarget.size();
  return ptx.substr(begin, ptx.find_first_of(", \t\r\n", begin) - begin);
}

std::map<std::string, uint32_t> ptxas_registers(const Ptxas& ptxas, const std::string& ptx,
                                                const std::string& architecture) {
  if (ptxas.cache.empty()) return assembled(ptxas.path, ptx, architecture);
  const std::string file = cache_file(ptxas, ptx, architecture);
  Registers registers;
  if (load(file, registers)) return registers;
  registers = assembled(ptxas.path, ptx, architecture);
  keep(file, registers);
  return registers;
}

}  // namespace nearwarp::cudart
