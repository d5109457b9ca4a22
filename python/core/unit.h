// The class Unit: a bounded queue of jobs. UnitBox is its C++ object, which also keeps the arrays
// of jobs whose handles were dropped before the jobs ended.
//
// All functions require the GIL, which also protects the members; the destructor and close() give
// it up while they wait.
#pragma once

#include <pybind11/pybind11.h>

#include <deque>
#include <memory>

#include "core/flight.h"
#include "core/raise.h"
#include "millrace/millrace.hpp"

namespace millrace::python {

namespace py = pybind11;

class UnitBox {
 public:
  UnitBox(std::shared_ptr<Device> device, UnitOptions options);
  ~UnitBox();
  UnitBox(const UnitBox&) = delete;
  UnitBox& operator=(const UnitBox&) = delete;

  // Submits the job, waiting for a place if the policy says so. Raises the errors of Unit::submit,
  // and whatever a signal handler raises.
  void submit(const Model& model, Flight& flight);
  // Submits a job again whose outputs were enlarged. Returns false if there is no place.
  bool resubmit(const Model& model, Flight& flight);
  // Runs the job on the calling thread or waits for it, and returns its status. It does not notice
  // signals before it has ended.
  Status execute(const Model& model, Flight& flight);

  // Takes over a job whose handle is dropped.
  void adopt(std::unique_ptr<Flight> flight);
  void close();

  Unit& unit() noexcept { return unit_; }
  // Returns the number of jobs in the unit and on their way to it.
  uint32_t load() const noexcept { return unit_.in_flight() + executing_; }
  // Returns whether a job may run for an unknown time on the thread that calls execute().
  bool may_hang() const noexcept { return may_hang_; }

 private:
  void free_ended();

  const std::shared_ptr<Device> device_;  // closes the unit when it ends, so must outlive it
  const WhenFull when_full_;
  const bool may_hang_;
  uint32_t executing_ = 0;
  std::deque<std::unique_ptr<Flight>> dropped_;
  Unit unit_;
};

// Closes all units, so that no job accesses memory of Python any more. Called when the interpreter
// is about to end.
void close_all_units();

void define_unit(py::module_& module);

}  // namespace millrace::python
