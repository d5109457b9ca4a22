// The class Unit: a bounded queue of jobs. UnitBox is its C++ object, which also keeps the arrays
// of jobs whose handles were dropped before the jobs ended.
//
// All functions require the GIL, which also protects the members; the destructor and the functions
// that close give it up while they wait.
#pragma once

#include <pybind11/pybind11.h>

#include <deque>
#include <future>
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

  // Has the unit ring the bell (core/bell.h) at each completion, for as long as one of its jobs is
  // watched and until rest() is called afterwards. Raises Forked.
  void watch();
  void unwatch() noexcept { --watched_; }
  // Ends the ringing if no job is watched.
  void rest() noexcept;
  // To be called in a forked child, which has neither the unit nor its threads: makes watch()
  // notice that, and the destructor wait for no thread.
  void lose_in_child();

  // Closes the unit. Raises what a signal handler raises: the close then goes on by itself, and a
  // further call waits for it.
  void close();
  // Does the same without noticing signals.
  void close_uninterrupted();

  Unit& unit() noexcept { return unit_; }
  // Returns the number of jobs in the unit and on their way to it.
  uint32_t load() const noexcept { return unit_.in_flight() + executing_; }
  // Returns whether a job may run for an unknown time on the thread that calls execute().
  bool may_hang() const noexcept { return may_hang_; }

 private:
  void free_ended();
  void free_ended_behind_others();

  static constexpr size_t kFirstSweep = 64;

  const std::shared_ptr<Device> device_;  // closes the unit when it ends, so must outlive it
  const WhenFull when_full_;
  const bool may_hang_;
  uint32_t executing_ = 0;
  uint32_t watched_ = 0;  // how often jobs are watched
  bool rings_ = false;
  std::deque<std::unique_ptr<Flight>> dropped_;
  size_t next_sweep_ = kFirstSweep;  // number of dropped jobs at which all of them are looked at
  Unit unit_;
  std::future<void> closing_;  // a close that a signal may interrupt; its thread uses unit_
};

// Calls UnitBox::rest() for all units.
void rest_units();
// Calls UnitBox::lose_in_child() for all units.
void lose_units_in_child();

// Closes all units, so that no job accesses memory of Python any more. Called when the interpreter
// is about to end.
void close_all_units();

void define_unit(py::module_& module);

}  // namespace millrace::python
