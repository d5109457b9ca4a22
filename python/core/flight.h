// Flight: one job from its arguments to its outcome: the arrays that it reads and writes, the
// handle of the native job, and afterwards the status and the result.
//
// All functions require the GIL. The address of a flight must not change while its job runs, since
// the job writes shapes and conversions to it.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/plan.h"
#include "millrace/millrace.hpp"

namespace millrace::python {

// The arguments of a call besides the arrays.
struct JobOptions {
  Deadline deadline = kNoDeadline;
  View view = View::kCpu;
  bool strict_zero_copy = false;
  PyObject* outputs = nullptr;  // borrowed; null or None: all outputs are allocated
  PyObject* unit = nullptr;     // borrowed; null or None: a unit of the model
};

// A file descriptor that is closed with the object; -1 for none.
class OwnDescriptor {
 public:
  OwnDescriptor() = default;
  // Takes the descriptor over.
  explicit OwnDescriptor(int fd) noexcept : fd_(fd) {}
  OwnDescriptor(OwnDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnDescriptor& operator=(OwnDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~OwnDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const noexcept { return fd_; }

 private:
  int fd_ = -1;
};

struct Flight {
  Flight() = default;
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;
  // Requirement: no job is running, see has_ended().
  ~Flight() = default;

  // Returns the arguments for Unit::submit or Unit::execute. They refer to this object.
  JobArgs job_args();

  // Takes the status of a run. Returns true if the job has to run again, since the memory of open
  // outputs was too small for the shapes that it stated, and was enlarged. Otherwise the flight is
  // finished.
  bool needs_another_run(const Status& run_status);

  // Records the outcome: makes the result, and gives up the arrays and what else only a running job
  // needs. A result for which there is no memory is an outcome, too. The arrays of a job that hung
  // are never freed, since its thread may still write to them.
  //
  // Code of Python, which may let other threads run, may be called before the outcome is published
  // by `done`, and afterwards.
  void finish(const Status& final_status);

  // Collects the outcome of a job that is completed and whose result nobody wants.
  void collect_unwanted();

  // The arguments. The tensors lie frame by frame, first those of all inputs.
  ModelPlan* plan = nullptr;
  boost::container::small_vector<TensorArg, 4> args;
  size_t input_args = 0;
  uint32_t frames = 1;
  View view = View::kCpu;
  Deadline deadline = kNoDeadline;
  bool strict_zero_copy = false;
  boost::container::small_vector<py::object, 2> inputs, outputs;
  std::vector<TensorShape> shapes;  // of each tensor, if the model has open ones
  std::vector<bool> allocated;      // which open outputs may be enlarged; empty if none
  std::vector<py::str> copied;      // names of the inputs that were copied to new arrays
  bool by_name = false;             // the result is a dict
  std::vector<size_t> selected;     // outputs that the dict has; empty for all
  // The objects that keep the plan and the unit alive. Empty if the caller does.
  py::object model, unit;

  // The job.
  Job job;
  BoundaryConversions conversions;
  // Threads that are inside a function of `job` without the GIL, or about to store its outcome.
  uint32_t waiters = 0;
  bool to_resubmit = false;     // its outputs were enlarged
  OwnDescriptor notified_fd{};  // event fd that a resubmitted job has to notify, too

  // The outcome.
  bool done = false;
  Status status;
  py::object result;

 private:
  bool grow_outputs();
  py::object made_result();
  py::object output_of(size_t index);
  py::object shaped(size_t index);
};

}  // namespace millrace::python
