// The public interface of nearwarp, a cycle-level simulator of GPUs with near-data processing.
//
//   using namespace nearwarp;
//   auto machine = Machine::load("tom");
//   auto policy = Policy::load("tom");
//   auto program = Program::workload("kmeans", "small");
//   auto run = Simulation::begin(*program, *machine, *policy);
//   if (auto done = run->run(); !done) std::cerr << done.failure().message << '\n';
//   std::cout << run->result().cycles << '\n';
//
// Nothing here prints, exits or reads standard input. Errors, and exceptions from functions of the
// caller's, are returned as a Failure. Only std::bad_alloc is thrown, and std::logic_error if a
// failure is asked for its value, or an object that nothing has made is used. Objects share what
// they are made of and are cheap to copy; Simulation and Device can only be moved. Different
// objects may be used by different threads at the same time, one object may not. Results are those
// of the command line, to the bit. Units stand in names and comments. Each subject has a header of
// its own, nearwarp/SUBJECT.h; this one includes all of them.
#pragma once

#include <nearwarp/analysis.h>
#include <nearwarp/batch.h>
#include <nearwarp/catalogue.h>
#include <nearwarp/checks.h>
#include <nearwarp/configuration.h>
#include <nearwarp/device.h>
#include <nearwarp/experiment.h>
#include <nearwarp/failure.h>
#include <nearwarp/looks.h>
#include <nearwarp/parts.h>
#include <nearwarp/program.h>
#include <nearwarp/result.h>
#include <nearwarp/results.h>
#include <nearwarp/simulation.h>
#include <nearwarp/sweep.h>
#include <nearwarp/texts.h>
#include <nearwarp/traces.h>
