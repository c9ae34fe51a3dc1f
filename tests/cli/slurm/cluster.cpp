// A Slurm cluster of one node on this machine, made of Debian's packages.
#include "tests/cli/slurm/cluster.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace nearwarp::testing {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

/// The path of a program in Debian's folders, since that of daemons is not on every user's PATH;
/// empty if there is none.
std::string find_program(const std::string& name) {
  for (const char* folder : {"/usr/sbin/", "/usr/bin/"})
    if (access((folder + name).c_str(), X_OK) == 0) return folder + name;
  return "";
}

/// A port that is free now.
int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bind(fd, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(fd);
  return ntohs(address.sin_port);
}

std::string configuration(const std::string& folder) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const std::string name = std::string(host).substr(0, std::string(host).find('.'));
  const std::string user = getpwuid(getuid())->pw_name;
  const auto in = [&](const std::string& file) { return folder + "/" + file + "\n"; };
  return "ClusterName=test\n"
         "SlurmctldHost=" +
         name +
         "(127.0.0.1)\n"
         "SlurmctldPort=" +
         std::to_string(free_port()) +
         "\n"
         "SlurmdPort=" +
         std::to_string(free_port()) +
         "\n"
         "SlurmUser=" +
         user + "\nSlurmdUser=" + user +
         "\n"
         "AuthType=auth/munge\nCredType=cred/munge\n"
         "AuthInfo=socket=" +
         in("munge.socket") + "StateSaveLocation=" + in("state") + "SlurmdSpoolDir=" + in("spool") +
         "SlurmctldPidFile=" + in("slurmctld.pid") + "SlurmdPidFile=" + in("slurmd.pid") +
         "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\n"
         "MpiDefault=none\nAccountingStorageType=accounting_storage/none\n"
         "JobAcctGatherType=jobacct_gather/none\nReturnToService=2\n"
         "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n"
         // As many processors as the tests want, whatever this machine has.
         "SlurmdParameters=config_overrides\n"
         "NodeName=" +
         name +
         " NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN\n"
         "PartitionName=main Nodes=" +
         name + " Default=YES MaxTime=INFINITE State=UP\n";
}

}  // namespace

std::string output_of_shell(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return text;
  char bytes[4096];
  for (size_t n = 0; (n = fread(bytes, 1, sizeof bytes, pipe)) > 0;) text.append(bytes, n);
  pclose(pipe);
  return text;
}

Cluster::Cluster() {
  for (const char* name : {"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel"})
    if (find_program(name).empty())
      why_not_ = std::string("there is no ") + name + " - 'tools/setup --slurm' installs it";
  if (!why_not_.empty()) return;
  const std::string folder = folder_.path();
  for (const char* name : {"state", "spool"})
    std::filesystem::create_directory(folder_.path() / name);
  write_text(folder_.file("munge.key"), std::string(32, 'k') + folder);  // need not be secret
  chmod(folder_.file("munge.key").c_str(), 0600);
  write_text(folder_.file("slurm.conf"), configuration(folder));
  setenv("SLURM_CONF", folder_.file("slurm.conf").c_str(), 1);
  start({find_program("munged"), "--foreground", "--force", "--key-file=" + folder + "/munge.key",
         "--socket=" + folder + "/munge.socket", "--pid-file=" + folder + "/munged.pid",
         "--seed-file=" + folder + "/munge.seed", "--log-file=" + folder + "/munge.log"},
        "munged.out");
  start({find_program("slurmctld"), "-D"}, "slurmctld.out");
  start({find_program("slurmd"), "-D"}, "slurmd.out");
  if (!comes_up()) why_not_ = "Slurm's daemons do not run here: " + logs();
}

Cluster::~Cluster() {
  if (why_not_.empty()) output_of_shell("scancel --signal=KILL --full --state=RUNNING");
  for (const pid_t daemon : daemons_) kill(daemon, SIGKILL);
  for (const pid_t daemon : daemons_) waitpid(daemon, nullptr, 0);
  unsetenv("SLURM_CONF");
}

void Cluster::start(const std::vector<std::string>& words, const std::string& log) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const std::string path = folder_.file(log);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  daemons_.push_back(child);
}

bool Cluster::comes_up() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (contains(output_of_shell("sinfo --noheader --format=%T"), "idle")) return true;
    const size_t gone =
        std::erase_if(daemons_, [](pid_t d) { return waitpid(d, nullptr, WNOHANG) == d; });
    if (gone != 0) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

std::string Cluster::logs() const {
  std::string text;
  for (const char* log : {"munged.out", "slurmctld.out", "slurmd.out"}) {
    const std::string all = read_text(folder_.file(log));
    text +=
        std::string("\n") + log + ": " + all.substr(all.size() - std::min<size_t>(all.size(), 500));
  }
  return text;
}

}  // namespace nearwarp::testing
