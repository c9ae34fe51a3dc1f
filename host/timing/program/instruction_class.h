// Which port an instruction uses, for how long, and when its result is ready.
#pragma once

#include "device/sm/kernel_image.h"
#include "host/config/machine.h"
#include "host/functional/compiler/kernel.h"

namespace nearwarp::sim {

/// Fills unit, action, latency, interval, flags, lane_bytes and barrier fields.
sm::ImageInstr classify(const compiler::Instruction& instruction,
                        const config::MachineConfig& machine);

/// The class as which a lane of the instruction is charged in the energy account.
sm::EnergyClass energy_class(const compiler::Instruction& instruction);

/// True for instructions that the real assembler removes (`mov`, `cvta`).
bool is_move(const compiler::Instruction& instruction);

}  // namespace nearwarp::sim
