// Contexts. Those of a device share its memory, and all of them modules and streams; what a context
// decides is which calls are allowed, whose memory is allocated, and what is freed with the last
// one of its device.
#pragma once

#include <cstdint>

#include "host/functional/cudart/abi.h"
#include "host/functional/cudriver/abi.h"

namespace nearwarp::cudriver {

struct Context {
  unsigned flags = 0;
  unsigned long long id = 0;
  int cache_config = 0;
  Device device = 0;
};

/// Conditions of calls; they throw Failure where one does not hold.
void check_initialized();
void check_context();

/// Is there such a device?
void check_device(Device device);

/// cuInit()
void initialize();

/// The calling thread's current context; nullptr if it has none.
void* current_context();
/// Throws Failure unless it lives. nullptr: the current one.
Context& checked_context(void* context);

/// A new context, current on top of the others.
void* create_context(unsigned flags, Device device);
/// Memory of contexts is freed with the last one, as long as the runtime has not been used.
void destroy_context(void* context);
void push_context(void* context);
void* pop_context();
/// In place of the one on top; nullptr: as pop_context().
void set_context(void* context);

// Calls on the primary context of a device that there is.
void* retain_primary_context(Device device);
void release_primary_context(Device device);
void reset_primary_context(Device device);
Context& primary_context(Device device);
bool primary_context_active(Device device);

}  // namespace nearwarp::cudriver
