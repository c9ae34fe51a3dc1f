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
// Nothing here prints, exits, reads standard input or throws (but std::bad_alloc, and
// std::logic_error by who asks a failure for its value, or an object that nothing has made for
// anything); what can go wrong comes back as a Failure, as does what the caller's functions throw.
// Objects share what they are made of and are cheap to copy, but for Simulation and Device, which
// can be moved. Two of them know nothing of each other, and may be used by two threads; one may
// not. Results are those of the command line, to the bit. Units stand in names and comments.
// Each subject has a header of its own, nearwarp/SUBJECT.h; this one includes all of them.
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
