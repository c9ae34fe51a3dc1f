// Are all headers there, and can each be used?
#include <nearwarp/analysis.h>
#include <nearwarp/catalogue.h>
#include <nearwarp/checks.h>
#include <nearwarp/parts.h>
#include <nearwarp/results.h>
#include <nearwarp/traces.h>

#include <iostream>

int main() {
  using namespace nearwarp;
  const auto tom = Machine::load("tom");
  const auto code = analyze_code("libor", tom.value(), Policy::load("tom").value());
  const auto profile = profile_program(Program::workload("vector-add").value(), tom.value());
  std::cout << catalogue("machines").value().size() << ' ' << code->kernels.size() << ' '
            << check_workload("vector-add")->clean() << ' ' << estimate_area()->parts.size() << ' '
            << profile->launches << '\n'
            << compare_results("/none", "/none").failure().message << '\n';
  return 0;
}
