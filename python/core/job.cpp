// Several threads may wait for one job. The native handle gives its outcome to one of them only, so
// the first collects it (Flight::waiters is 0 then), and the others wait until it has been stored.
// To store it may run code of Python, so a thread that does counts as a waiter, too.
//
// A job whose open outputs were too small is submitted again by the thread that notices its end,
// once no other thread uses the handle.
#include "core/job.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/bell.h"
#include "core/instance.h"
#include "core/model.h"
#include "core/options.h"
#include "core/raise.h"
#include "core/unit.h"
#include "core/without_gil.h"

namespace millrace::python {
namespace {

using std::chrono::nanoseconds;

// How long a thread sleeps between two attempts to submit a job again, or for another thread to
// store an outcome.
constexpr std::chrono::microseconds kRetryInterval(200);

struct JobObject {
  PyObject_HEAD Flight* flight;
};

// The class lives as long as the process.
PyTypeObject* job_class = nullptr;

Flight& flight_of(PyObject* self) noexcept {
  return *reinterpret_cast<JobObject*>(self)->flight;
}

UnitBox& unit_of(Flight& flight) noexcept {
  return *instance_of<UnitBox>(flight.unit.ptr());
}

void resubmit_if_free(Flight& flight) {
  if (flight.waiters != 0) return;
  const py::object kept = flight.model;  // a job that fails gives its reference up
  const ModelBox& model = *instance_of<ModelBox>(kept.ptr());
  if (unit_of(flight).resubmit(model.model, flight)) flight.to_resubmit = false;
}

// Records the outcome that the handle returned.
void settle(Flight& flight, const Status& status) {
  ++flight.waiters;
  flight.to_resubmit = flight.needs_another_run(status);
  --flight.waiters;
  if (flight.to_resubmit) resubmit_if_free(flight);
}

// Returns whether the job has ended or is about to: poll() then records that.
bool is_to_poll(const Flight& flight) {
  return flight.done || flight.to_resubmit || flight.job.is_completed();
}

// Returns whether the job has ended, without waiting.
bool poll(Flight& flight) {
  if (flight.done) return true;
  if (flight.to_resubmit) resubmit_if_free(flight);
  if (flight.done || flight.to_resubmit || flight.waiters != 0) return flight.done;
  if (!flight.job.is_completed()) return false;
  const Status status = flight.job.wait(nanoseconds(0));
  if (status.code() == StatusCode::kForked) raise(status);
  settle(flight, status);
  return flight.done;
}

void sleep_a_little() {
  without_gil([] { return usleep(static_cast<useconds_t>(kRetryInterval.count())); });
}

// Waits for a part of the time until `limit`.
void wait_a_slice(Flight& flight, Deadline limit) {
  if (flight.to_resubmit) return sleep_a_little();
  const nanoseconds slice = next_slice(limit);
  const bool collects = flight.waiters++ == 0;
  Job* const job = &flight.job;
  const Status status = without_gil([&] {
    return collects ? job->wait(slice) : wait_all({&job, 1}, slice);
  });
  --flight.waiters;
  if (status.code() == StatusCode::kForked) raise(status);
  if (status.code() == StatusCode::kPending) return;
  if (collects)
    settle(flight, status);
  else if (!flight.done)
    sleep_a_little();
}

// Returns false if the job has not ended by then.
bool wait_until(Flight& flight, Deadline limit) {
  while (!poll(flight)) {
    wait_a_slice(flight, limit);
    if (PyErr_CheckSignals() < 0) throw py::error_already_set();
    if (!flight.done && has_passed(limit)) return poll(flight);
  }
  return true;
}

// Reads the only argument of a method, which may be given as timeout=..., too.
PyObject* timeout_in(PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  if (count + named == 0) return Py_None;
  if (count + named == 1 &&
      (named == 0 || PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "timeout") == 0))
    return args[0];
  PyErr_SetString(PyExc_TypeError, "the only argument is timeout, a number of seconds or None");
  throw py::error_already_set();
}

void wait_or_raise(Flight& flight, PyObject* timeout) {
  if (poll(flight) || wait_until(flight, deadline_after(timeout))) return;
  raise({StatusCode::kPending, "the job has not ended within the timeout"});
}

py::object outputs_of(Flight& flight) {
  check(flight.status);
  return flight.result;
}

PyObject* job_wait(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    wait_or_raise(flight_of(self), timeout_in(args, count, names));
    return py::object(py::none());
  });
}

PyObject* job_result(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    wait_or_raise(flight_of(self), timeout_in(args, count, names));
    return outputs_of(flight_of(self));
  });
}

PyObject* job_exception(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    Flight& flight = flight_of(self);
    wait_or_raise(flight, timeout_in(args, count, names));
    return flight.status.ok() ? py::object(py::none()) : exception_of(flight.status);
  });
}

PyObject* job_done(PyObject* self, PyObject*) {
  return guarded([&] { return py::object(py::bool_(poll(flight_of(self)))); });
}

PyObject* job_cancelled(PyObject* self, PyObject*) {
  return guarded([&] {
    Flight& flight = flight_of(self);
    return py::object(py::bool_(poll(flight) && flight.status.code() == StatusCode::kCancelled));
  });
}

// A job that waits to be submitted again is in no unit.
py::object cancel_to_resubmit(Flight& flight) {
  flight.to_resubmit = false;
  flight.finish({StatusCode::kCancelled, "the job was cancelled before it ran again"});
  return py::bool_(true);
}

py::object cancelled(Flight& flight, Deadline limit) {
  while (!poll(flight)) {
    if (flight.to_resubmit) return cancel_to_resubmit(flight);
    ++flight.waiters;
    const Result<CancelOutcome> outcome =
        without_gil([&] { return flight.job.cancel(next_slice(limit)); });
    --flight.waiters;
    if (outcome.ok()) return py::bool_(*outcome != CancelOutcome::kTooLate);
    if (outcome.status().code() == StatusCode::kInvalidJobId) {
      sleep_a_little();  // another thread is storing the outcome
      continue;
    }
    if (outcome.status().code() != StatusCode::kPending) raise(outcome.status());
    if (PyErr_CheckSignals() < 0) throw py::error_already_set();
    if (has_passed(limit)) return py::none();
  }
  return py::bool_(flight.status.code() == StatusCode::kCancelled);
}

PyObject* job_cancel(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    const bool polls = count == 0 && (names == nullptr || PyTuple_GET_SIZE(names) == 0);
    const Deadline limit =
        polls ? std::chrono::steady_clock::now() : deadline_after(timeout_in(args, count, names));
    return cancelled(flight_of(self), limit);
  });
}

OwnDescriptor duplicated(int fd) {
  if (fd < 0) return {};
  OwnDescriptor copy(fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (copy.get() >= 0) return copy;
  PyErr_SetFromErrno(PyExc_OSError);
  throw py::error_already_set();
}

// The native handle duplicates the descriptor. Another duplicate is kept only where the job may run
// again, with another handle, when the caller has closed its own.
bool notify(Flight& flight, int fd) {
  if (flight.done) return false;
  OwnDescriptor kept = flight.allocated.empty() ? OwnDescriptor() : duplicated(fd);
  if (!flight.to_resubmit) {
    const Status status = flight.job.notify_fd(fd);
    if (status.code() == StatusCode::kInvalidJobId) return false;
    check(status);
  }
  flight.notified_fd = std::move(kept);
  return true;
}

PyObject* job_notify_fd(PyObject* self, PyObject* descriptor) {
  return guarded([&] {
    const long fd = PyLong_AsLong(descriptor);
    if (fd == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    if (fd > std::numeric_limits<int>::max()) raise(invalid_argument("fd is no descriptor"));
    return py::object(py::bool_(notify(flight_of(self), fd < 0 ? -1 : static_cast<int>(fd))));
  });
}

PyObject* job_id(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(flight_of(self).job.id());
}

PyObject* job_unit(PyObject* self, void*) {
  return Py_NewRef(flight_of(self).unit.ptr());
}

// Reads what the job wrote, so there is nothing before its end.
PyObject* job_conversions(PyObject* self, void*) {
  return guarded([&] {
    Flight& flight = flight_of(self);
    if (!poll(flight))
      raise({StatusCode::kPending, "conversions are known when the job has ended"});
    return py::object(py::make_tuple(flight.conversions.tensors, flight.conversions.bytes));
  });
}

PyObject* job_copied_inputs(PyObject* self, void*) {
  return guarded([&] {
    py::tuple names(flight_of(self).copied.size());
    for (size_t i = 0; i < names.size(); ++i) names[i] = flight_of(self).copied[i];
    return py::object(names);
  });
}

PyObject* job_status(PyObject* self, void*) {
  return guarded([&] {
    Flight& flight = flight_of(self);
    const StatusCode code = poll(flight) ? flight.status.code() : StatusCode::kPending;
    return py::object(py::str(std::string(to_string(code))));
  });
}

PyObject* job_repr(PyObject* self) {
  return guarded([&] {
    Flight& flight = flight_of(self);
    const StatusCode code = poll(flight) ? flight.status.code() : StatusCode::kPending;
    return py::object(py::str("<millrace.Job " +
                              std::to_string(flight.job.id() & 0xffffffffffffULL) + ": " +
                              std::string(to_string(code)) + ">"));
  });
}

void job_dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  std::unique_ptr<Flight> flight(
      std::exchange(reinterpret_cast<JobObject*>(self)->flight, nullptr));
  if (flight != nullptr && !flight->done && flight->job) {
    // The unit outlives the call, which may drop the last reference to it.
    const py::object unit = flight->unit;
    unit_of(*flight).adopt(std::move(flight));
  }
  flight.reset();
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef job_methods[] = {
    {"wait", as_method(&job_wait), kFastCall,
     "wait($self, timeout=None)\n--\n\nWaits until the job has ended, whatever its outcome. "
     "Pending\n"
     "(a TimeoutError) if it has not after `timeout` seconds; None waits without a limit."},
    {"result", as_method(&job_result), kFastCall,
     "result($self, timeout=None)\n--\n\nWaits for the job and returns its outputs: an array, a\n"
     "tuple of arrays, or a dict of them if the inputs were given by name. Raises the exception "
     "of\n"
     "a job that failed, and Pending (a TimeoutError) after `timeout` seconds."},
    {"exception", as_method(&job_exception), kFastCall,
     "exception($self, timeout=None)\n--\n\nWaits for the job and returns its exception; None if "
     "it\n"
     "succeeded. Pending after `timeout` seconds."},
    {"done", &job_done, METH_NOARGS, "done($self)\n--\n\nReturns whether the job has ended."},
    {"cancelled", &job_cancelled, METH_NOARGS,
     "cancelled($self)\n--\n\nReturns whether the job has ended because it was cancelled."},
    {"cancel", as_method(&job_cancel), kFastCall,
     "cancel($self, timeout=0.0)\n--\n\nCancels the job. True if it ends as cancelled: removed "
     "from\n"
     "the queue, or stopped within `timeout` seconds. False if it ended as if nothing had been\n"
     "called. None if that is not known yet: it was running, and was asked to stop."},
    {"notify_fd", &job_notify_fd, METH_O,
     "notify_fd($self, fd, /)\n--\n\nAdds 1 to an eventfd when the job completes; at once if it "
     "has.\n"
     "Returns False if the outcome is known already: then nothing is added. An open output that "
     "was\n"
     "too small makes the job run, and complete, once more. The descriptor is duplicated until "
     "then,\n"
     "so the caller may close its own at any time; a later call replaces it, and -1 removes it."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef job_properties[] = {
    {"id", &job_id, nullptr, "The id of the job's unit, and the number of the job in it.", nullptr},
    {"unit", &job_unit, nullptr, "The unit that the job was submitted to.", nullptr},
    {"status", &job_status, nullptr, "The name of the status code; \"PENDING\" until the end.",
     nullptr},
    {"conversions", &job_conversions, nullptr,
     "How many tensors Millrace converted between the views, and their bytes. Pending until the "
     "end.",
     nullptr},
    {"copied_inputs", &job_copied_inputs, nullptr,
     "The names of the inputs that were copied to an array of the right dtype and order.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// The functions of Python's types are stored as pointers to objects.
template <class Function>
void* as_slot(Function* function) noexcept {
  return reinterpret_cast<void*>(function);
}

PyType_Slot job_slots[] = {
    {Py_tp_dealloc, as_slot(&job_dealloc)},
    {Py_tp_repr, as_slot(&job_repr)},
    {Py_tp_methods, job_methods},
    {Py_tp_getset, job_properties},
    {Py_tp_doc,
     const_cast<char*>(
         "One job: the future of its outputs.\n\n"
         "It keeps the arrays of the job alive until the job has ended, also if the\n"
         "handle itself is dropped: the job then runs on. `await job` returns result();\n"
         "cancelling the task that awaits cancels the job.")},
    {0, nullptr}};

PyType_Spec job_spec = {"millrace._core.Job", sizeof(JobObject), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, job_slots};

Flight& flight_in(const py::handle& object) {
  if (Py_TYPE(object.ptr()) == job_class) return flight_of(object.ptr());
  PyErr_Format(PyExc_TypeError, "a job to wait for must be a millrace.Job, not %s",
               Py_TYPE(object.ptr())->tp_name);
  throw py::error_already_set();
}

py::list ended_of(const std::vector<Flight*>& flights) {
  py::list indices;
  for (size_t i = 0; i < flights.size(); ++i)
    if (poll(*flights[i])) indices.append(i);
  return indices;
}

// Waits for any of the jobs for a part of the time until `limit`.
void wait_any_slice(const std::vector<Flight*>& flights, Deadline limit) {
  std::vector<Job*> handles;
  for (Flight* const flight : flights) {
    if (flight->to_resubmit) return sleep_a_little();
    handles.push_back(&flight->job);
  }
  for (Flight* const flight : flights) ++flight->waiters;
  const Result<size_t> found = without_gil([&] { return wait_any(handles, next_slice(limit)); });
  for (Flight* const flight : flights) --flight->waiters;
  if (found.ok() || found.status().code() == StatusCode::kPending) return;
  if (found.status().code() != StatusCode::kInvalidJobId) raise(found.status());
  sleep_a_little();  // another thread is storing an outcome
}

py::list wait_some(const py::sequence& jobs, const py::object& timeout) {
  const Deadline limit = deadline_after(timeout.ptr());
  const py::tuple kept(jobs);
  std::vector<Flight*> flights;
  for (const py::handle& job : kept) flights.push_back(&flight_in(job));
  if (flights.empty()) raise(invalid_argument("there is no job to wait for"));
  while (true) {
    py::list ended = ended_of(flights);
    if (!ended.empty() || has_passed(limit)) return ended;
    wait_any_slice(flights, limit);
    if (PyErr_CheckSignals() < 0) throw py::error_already_set();
  }
}

// Has the job's unit ring the bell. Returns whether the job has to be looked at now, since it may
// have ended before.
bool watch(const py::object& job) {
  Flight& flight = flight_in(job);
  unit_of(flight).watch();
  return is_to_poll(flight);
}

void unwatch(const py::object& job) {
  unit_of(flight_in(job)).unwatch();
}

py::list ended_among(const py::list& jobs) {
  py::list ended;
  for (const py::handle& job : jobs)
    if (is_to_poll(flight_in(job))) ended.append(job);
  return ended;
}

}  // namespace

py::object job_for(std::unique_ptr<Flight> flight) {
  py::object made = owned(job_class->tp_alloc(job_class, 0));
  reinterpret_cast<JobObject*>(made.ptr())->flight = flight.release();
  return made;
}

py::object result_of(const py::object& job) {
  Flight& flight = flight_of(job.ptr());
  wait_or_raise(flight, Py_None);
  return outputs_of(flight);
}

void define_job(py::module_& module) {
  const py::object defined = owned(PyType_FromSpec(&job_spec));
  job_class = reinterpret_cast<PyTypeObject*>(defined.ptr());
  Py_INCREF(job_class);
  module.attr("Job") = defined;
  module.def("wait_some", &wait_some, py::arg("jobs"), py::arg("timeout") = py::none(),
             "Waits until a job has ended. Returns the indices of those that have; an empty list\n"
             "after `timeout` seconds.");
  module.def(
      "bell", &bell,
      "Returns the event fd that units with watched jobs add to at each completion. It is to "
      "be\n"
      "watched edge-triggered, and not read.");
  module.def("ring_bell", &ring_bell, "Wakes all who watch the bell.");
  module.def("watch", &watch, py::arg("job"),
             "Has the job's unit ring the bell until unwatch(), for each call. Returns True if the "
             "job\n"
             "has to be looked at now, since it may have ended. Forked.");
  module.def("unwatch", &unwatch, py::arg("job"));
  module.def(
      "ended_among", &ended_among, py::arg("jobs"),
      "Returns the jobs that have ended. Those of which done() is still False have to be "
      "asked\n"
      "again soon: another thread is about to record their end, or they find no place to run "
      "once\n"
      "more.");
  module.def("rest_units", &rest_units,
             "Has the units none of whose jobs is watched ring the bell no more.");
}

}  // namespace millrace::python
