// Entry points of streams, events and host functions.
#include <algorithm>
#include <cstring>

#include "host/functional/cudart/runtime/graph_work.h"
#include "host/functional/cudart/runtime/runtime.h"

using namespace nearwarp::cudart;

namespace {

constexpr unsigned kStreamFlags = 1, kEventFlags = 7, kEventDisableTiming = 2,
                   kEventInterprocess = 4;
constexpr unsigned kEventRecordExternal = 1, kEventWaitExternal = 1;

Status create(Stream* stream, unsigned flags, int priority, NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    require(stream != nullptr && (flags & ~kStreamFlags) == 0);
    r.device();
    *stream = r.streams.create(flags, priority > 0 ? 0 : priority < -5 ? -5 : priority);
    return kSuccess;
  });
}

/// A call that has nothing to wait for.
Status nothing_to_do(Stream stream, NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    r.touch(stream);
    return kSuccess;
  });
}

}  // namespace

NW_API cudaStreamCreate(Stream* stream) { return create(stream, 0, 0); }
NW_API cudaStreamCreateWithFlags(Stream* stream, unsigned flags) {
  return create(stream, flags, 0);
}
NW_API cudaStreamCreateWithPriority(Stream* stream, unsigned flags, int priority) {
  return create(stream, flags, priority);
}
NW_API cudaStreamDestroy(Stream stream) {
  return api([&](Runtime& r) {
    r.streams.destroy(stream);
    return kSuccess;
  });
}
NW_API cudaStreamSynchronize(Stream stream) {
  return api([&](Runtime& r) {
    if (const StreamState* s = r.streams.use(stream); s != nullptr && s->capture != nullptr)
      s->capture->fail(kErrorStreamCaptureUnsupported);
    r.order.host_waited(*r.streams.order(stream));
    return kSuccess;
  });
}
/// Finds every stream complete: the host waits for it here.
NW_API cudaStreamQuery(Stream stream) {
  const OuterCall outer;
  return cudaStreamSynchronize(stream);
}
NW_API cudaStreamAttachMemAsync(Stream stream, void*, size_t, unsigned) {
  return nothing_to_do(stream);
}
NW_API cudaStreamGetPriority(Stream stream, int* priority) {
  return api([&](Runtime& r) {
    require(priority != nullptr);
    const StreamState* s = r.streams.find(stream);
    *priority = s == nullptr ? 0 : s->priority;
    return kSuccess;
  });
}
NW_API cudaStreamGetFlags(Stream stream, unsigned* flags) {
  return api([&](Runtime& r) {
    require(flags != nullptr);
    const StreamState* s = r.streams.find(stream);
    *flags = s == nullptr ? 0 : s->flags;
    return kSuccess;
  });
}
NW_API cudaStreamGetId(Stream stream, unsigned long long* id) {
  return api([&](Runtime& r) {
    require(id != nullptr);
    const StreamState* s = r.streams.find(stream);
    *id = s == nullptr ? 1 : s->id;
    return kSuccess;
  });
}
NW_API cudaStreamGetDevice(Stream stream, int* device) {
  return api([&](Runtime& r) {
    require(device != nullptr);
    const StreamState* s = r.streams.find(stream);
    *device = s == nullptr ? thread_state().device : s->device;
    return kSuccess;
  });
}
/// Attributes are hints to hardware that is not there: they are kept, for who asks.
NW_API cudaStreamCopyAttributes(Stream to, Stream from) {
  return api([&](Runtime& r) {
    StreamState *t = r.streams.find(to), *f = r.streams.find(from);
    if (t != nullptr && f != nullptr) t->attributes = f->attributes;
    return kSuccess;
  });
}
NW_API cudaStreamSetAttribute(Stream stream, int attribute, const void* value) {
  return api([&](Runtime& r) {
    require(value != nullptr);
    if (StreamState* s = r.streams.find(stream); s != nullptr)
      std::memcpy(s->attributes[attribute].data(), value, 64);
    return kSuccess;
  });
}
NW_API cudaStreamGetAttribute(Stream stream, int attribute, void* value) {
  return api([&](Runtime& r) {
    require(value != nullptr);
    std::memset(value, 0, 64);
    StreamState* s = r.streams.find(stream);
    if (s != nullptr && s->attributes.contains(attribute))
      std::memcpy(value, s->attributes[attribute].data(), 64);
    return kSuccess;
  });
}

NW_API cudaLaunchHostFunc(Stream stream, void (*function)(void*), void* data) {
  bool is_now = false;
  const Status status = api([&](Runtime& r) {
    require(function != nullptr);
    const StreamState* s = r.streams.find(stream);
    is_now = s == nullptr || s->capture == nullptr;
    if (!is_now) {
      const HostNodeParams params{function, data};
      r.enqueue(stream, NodeType::kHost, host_work(&params));
    }
    r.touch(stream);
    return kSuccess;
  });
  if (status == kSuccess && is_now) function(data);  // not under the lock
  return status;
}
NW_API cudaStreamAddCallback(Stream stream, void (*callback)(Stream, int, void*), void* data,
                             unsigned flags) {
  const Status status = api([&](Runtime& r) {
    require(callback != nullptr && flags == 0);
    if (const StreamState* s = r.streams.use(stream); s != nullptr && s->capture != nullptr)
      s->capture->fail(kErrorStreamCaptureUnsupported);
    r.touch(stream);
    return kSuccess;
  });
  if (status == kSuccess) callback(stream, kSuccess, data);
  return status;
}

// --- Events --------------------------------------------------------------------------------------

NW_API cudaEventCreateWithFlags(void** event, unsigned flags) {
  return api([&](Runtime& r) {
    require(event != nullptr && (flags & ~kEventFlags) == 0);
    // Events that processes share have no times.
    require((flags & kEventInterprocess) == 0 || (flags & kEventDisableTiming) != 0);
    r.device();
    *event = r.streams.create_event(flags);
    return kSuccess;
  });
}
NW_API cudaEventCreate(void** event) {
  const OuterCall outer;
  return cudaEventCreateWithFlags(event, 0);
}
NW_API cudaEventDestroy(void* event) {
  return api([&](Runtime& r) {
    r.streams.destroy_event(event);
    return kSuccess;
  });
}
/// In a capture, an event is how another stream finds the graph; a node only if it is external.
NW_API cudaEventRecordWithFlags(void* event, Stream stream, unsigned flags) {
  return api([&](Runtime& r) {
    require((flags & ~kEventRecordExternal) == 0);
    const StreamState* s = r.streams.use(stream);
    EventState& recorded = r.streams.event(event);
    require(recorded.device == (s == nullptr ? thread_state().device : s->device),
            kErrorInvalidResourceHandle);
    recorded.capture = s == nullptr ? nullptr : s->capture;
    if (recorded.capture != nullptr && flags == 0) {
      recorded.tail = s->tail;
      return kSuccess;
    }
    r.enqueue(stream, NodeType::kRecordEvent, event_work(r, event, true));
    return kSuccess;
  });
}
NW_API cudaEventRecord(void* event, Stream stream) {
  const OuterCall outer;
  return cudaEventRecordWithFlags(event, stream, 0);
}
NW_API cudaEventQuery(void* event) {
  return api([&](Runtime& r) {
    const EventState& e = r.streams.event(event);
    if (e.capture != nullptr) e.capture->fail(kErrorCapturedEvent);
    r.streams.captures.check_unsafe(thread_state().capture_mode);
    r.order.host_waited(e.before);
    return kSuccess;
  });
}
NW_API cudaEventSynchronize(void* event) {
  const OuterCall outer;
  return cudaEventQuery(event);
}
NW_API cudaStreamWaitEvent(Stream stream, void* event, unsigned flags) {
  return api([&](Runtime& r) {
    StreamState* s = r.streams.use(stream);
    const EventState& e = r.streams.event(event);
    const bool captured = s != nullptr && s->capture != nullptr;
    if (captured ? flags == kEventWaitExternal : e.capture == nullptr) {
      r.enqueue(stream, NodeType::kWaitEvent, event_work(r, event, false));
      return kSuccess;
    }
    if (e.capture == nullptr) {
      s->capture->require(!e.recorded, kErrorStreamCaptureIsolation);
      return kSuccess;
    }
    e.capture->check_valid();
    if (s == nullptr) e.capture->fail(kErrorStreamCaptureUnsupported);  // it cannot be captured
    // Waiting for an event of a capture makes a stream part of it.
    if (s->capture == nullptr) s->capture = e.capture;
    if (s->capture != e.capture) {
      e.capture->is_valid = false;
      s->capture->fail(kErrorStreamCaptureMerge);
    }
    for (GraphNode* node : e.tail)
      if (std::find(s->tail.begin(), s->tail.end(), node) == s->tail.end()) s->tail.push_back(node);
    return kSuccess;
  });
}
NW_API cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
  return api([&](Runtime& r) {
    require(milliseconds != nullptr);
    const EventState &a = r.streams.event(start), &b = r.streams.event(end);
    for (const EventState* e : {&a, &b})
      if (e->capture != nullptr) e->capture->fail(kErrorCapturedEvent);
    require(a.recorded && b.recorded && a.device == b.device &&
                ((a.flags | b.flags) & kEventDisableTiming) == 0,
            kErrorInvalidResourceHandle);
    for (const EventState* e : {&a, &b}) r.order.host_waited(e->before);  // else it were not ready
    *milliseconds = static_cast<float>((b.microseconds - a.microseconds) / 1000);
    return kSuccess;
  });
}
