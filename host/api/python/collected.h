// Lets Python's garbage collector see the Python objects that objects of the compiled part hold.
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

namespace py = pybind11;

namespace nearwarp {

/// The T in a Python object; nullptr if the object's __init__() has not ended.
template <class T>
T* made_in(PyObject* self) {
  auto* instance = reinterpret_cast<py::detail::instance*>(self);
  if (!instance->simple_layout || !instance->simple_holder_constructed) return nullptr;
  return instance->get_value_and_holder().value_ptr<T>();
}

/// Set-up of a Python type whose objects take part in garbage collection. T::visit(f) has to call
/// `f` with each py::object that a T holds; the collector sets them to None when it frees a cycle.
template <class T>
py::custom_type_setup collected() {
  return py::custom_type_setup([](PyHeapTypeObject* heap_type) {
    PyTypeObject& type = heap_type->ht_type;
    type.tp_flags |= Py_TPFLAGS_HAVE_GC;
    type.tp_traverse = [](PyObject* self, visitproc visit, void* arg) {
#if PY_VERSION_HEX >= 0x03090000
      Py_VISIT(Py_TYPE(self));
#endif
      int result = 0;
      if (T* made = made_in<T>(self); made != nullptr)
        made->visit([&](const py::object& held) {
          if (result == 0 && held.ptr() != nullptr) result = visit(held.ptr(), arg);
        });
      return result;
    };
    type.tp_clear = [](PyObject* self) {
      if (T* made = made_in<T>(self); made != nullptr)
        made->visit([](py::object& held) { std::exchange(held, py::none()); });
      return 0;
    };
  });
}

}  // namespace nearwarp
