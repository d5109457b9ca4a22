// Finds out whether the calling thread is Python's main thread: it alone handles signals and ends
// the interpreter. Each extension module has its own record.
#pragma once

#include <pybind11/pybind11.h>

namespace millrace::python {

// The identifier of the main thread.
inline unsigned long main_thread = 0;

inline bool is_main_thread() noexcept {
  return PyThread_get_thread_ident() == main_thread;
}

// Records the main thread, and in each child of fork() its only thread. Called when the module is
// imported.
inline void track_main_thread() {
  namespace py = pybind11;
  const py::object ident = py::module_::import("threading").attr("main_thread")().attr("ident");
  if (!ident.is_none()) main_thread = ident.cast<unsigned long>();
  py::module_::import("os").attr("register_at_fork")(
      py::arg("after_in_child") =
          py::cpp_function([] { main_thread = PyThread_get_thread_ident(); }));
}

}  // namespace millrace::python
