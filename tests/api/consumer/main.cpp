// How many SMs does a program need on a machine? Says the cycles for each number of them.
#include <nearwarp/nearwarp.h>

#include <iostream>

int main(int argc, char** argv) {
  using namespace nearwarp;
  const std::string name = argc > 1 ? argv[1] : "vector-add";
  const Expected<Program> program = Program::workload(name);
  const Expected<Machine> machine = Machine::load("tom");
  const Expected<Policy> policy = Policy::load("baseline");
  if (!program) {
    std::cerr << program.failure().what << "\nrather: " << program.failure().right << '\n';
    return 1;
  }
  if (!machine || !policy) {
    std::cerr << machine.failure().message << policy.failure().message << '\n';
    return 1;
  }
  std::vector<Point> points;
  for (const char* sms : {"gpu.sms=16", "gpu.sms=32", "gpu.sms=68"})
    points.push_back({*program, machine->with({sms}).value(), *policy});
  for (const Expected<Result>& result : run_all(points)) {
    if (!result) {
      std::cerr << result.failure().message << '\n';
      return 1;
    }
    std::cout << result->program << ": " << result->cycles << " cycles\n";
  }
}
