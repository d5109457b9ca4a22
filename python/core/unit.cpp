#include "core/unit.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/bell.h"
#include "core/device.h"
#include "core/instance.h"
#include "core/options.h"
#include "core/submit.h"
#include "core/without_gil.h"

namespace millrace::python {
namespace {

std::vector<UnitBox*>& open_units() {
  static auto* const units = new std::vector<UnitBox*>;
  return *units;
}

WhenFull policy_named(const std::string& name) {
  if (name == "fail") return WhenFull::kFail;
  if (name == "block") return WhenFull::kBlock;
  if (name == "drop_oldest") return WhenFull::kDropOldest;
  if (name == "shed_by_deadline") return WhenFull::kShedByDeadline;
  raise(invalid_argument("when_full is \"" + name +
                         "\", not fail, block, drop_oldest or shed_by_deadline"));
}

const char* state_name(UnitState state) noexcept {
  switch (state) {
    case UnitState::kHealthy:
      return "healthy";
    case UnitState::kDegraded:
      return "degraded";
    case UnitState::kResetting:
      break;
  }
  return "resetting";
}

Unit created(Device& device, UnitOptions options) {
  return take(device.create_unit(std::move(options)));
}

}  // namespace

UnitBox::UnitBox(std::shared_ptr<Device> device, UnitOptions options)
    : device_(std::move(device)),
      when_full_(options.when_full),
      may_hang_(is_faulty(*device_) || options.watchdog.count() != 0),
      unit_(created(*device_, std::move(options))) {
  open_units().push_back(this);
}

UnitBox::~UnitBox() {
  std::erase(open_units(), this);
  close_uninterrupted();
  for (const std::unique_ptr<Flight>& flight : dropped_) flight->collect_unwanted();
}

void UnitBox::close_uninterrupted() {
  without_gil([this] {
    unit_.close();
    return 0;
  });
}

// The native close cannot be left, so another thread calls it where it may have to wait. Signals
// are handled by the main thread only.
void UnitBox::close() {
  if (!is_main_thread() || (unit_.in_flight() == 0 && !closing_.valid()))
    return close_uninterrupted();
  if (!closing_.valid()) {
    try {
      closing_ = std::async(std::launch::async, [this] { unit_.close(); });
    } catch (const std::exception&) {  // there is no thread
      return close_uninterrupted();
    }
  }
  while (without_gil([this] { return closing_.wait_for(kWaitSlice); }) != std::future_status::ready)
    if (PyErr_CheckSignals() < 0) throw py::error_already_set();
}

void UnitBox::watch() {
  if (!rings_) check(unit_.notify_each_fd(bell()));
  rings_ = true;
  ++watched_;
}

void UnitBox::rest() noexcept {
  if (!rings_ || watched_ != 0) return;
  rings_ = !unit_.notify_each_fd(-1).ok();
}

void rest_units() {
  for (UnitBox* const unit : open_units()) unit->rest();
}

void UnitBox::lose_in_child() {
  rings_ = false;
  // A future that waits for its thread is never destroyed.
  if (closing_.valid()) static_cast<void>(new std::future<void>(std::move(closing_)));
}

void lose_units_in_child() {
  for (UnitBox* const unit : open_units()) unit->lose_in_child();
}

void UnitBox::free_ended() {
  while (!dropped_.empty() && dropped_.front()->job.is_completed()) {
    // To free arrays may run code of Python that uses this unit.
    const std::unique_ptr<Flight> ended = std::move(dropped_.front());
    dropped_.pop_front();
    ended->collect_unwanted();
  }
  if (dropped_.size() >= next_sweep_) free_ended_behind_others();
}

// A job that takes long must not keep the arrays of all those that have ended behind it. Afterwards
// there are no more jobs left than the unit has places, so a call takes a constant time on average.
void UnitBox::free_ended_behind_others() {
  const auto first_ended = std::partition(dropped_.begin(), dropped_.end(), [](const auto& flight) {
    return !flight->job.is_completed();
  });
  const auto running = static_cast<size_t>(first_ended - dropped_.begin());
  next_sweep_ = std::max(kFirstSweep, 2 * running);
  while (!dropped_.empty() && dropped_.back()->job.is_completed()) {
    const std::unique_ptr<Flight> ended = std::move(dropped_.back());
    dropped_.pop_back();
    ended->collect_unwanted();
  }
}

void UnitBox::adopt(std::unique_ptr<Flight> flight) {
  flight->unit = {};
  // The native job keeps the loaded model. The object would keep this unit, and so itself.
  const py::object model = std::move(flight->model);
  if (flight->job.is_completed())
    flight->collect_unwanted();
  else
    dropped_.push_back(std::move(flight));
  free_ended();
}

void UnitBox::submit(const Model& model, Flight& flight) {
  if (!dropped_.empty()) free_ended();
  const bool blocks = when_full_ == WhenFull::kBlock;
  Result<Job> job =
      blocks ? unit_.submit_until(Deadline(), model, flight.job_args())  // without waiting
             : unit_.submit(model, flight.job_args());
  while (blocks && !job.ok() && job.status().code() == StatusCode::kQueueFull) {
    const Deadline limit = std::chrono::steady_clock::now() + kWaitSlice;
    job = without_gil([&] { return unit_.submit_until(limit, model, flight.job_args()); });
    // Once the job is submitted, Python handles the signal right after this call.
    if (!job.ok() && PyErr_CheckSignals() < 0) throw py::error_already_set();
  }
  flight.job = take(std::move(job));
}

bool UnitBox::resubmit(const Model& model, Flight& flight) {
  Result<Job> job = unit_.submit_until(Deadline(), model, flight.job_args());  // without waiting
  if (!job.ok() && job.status().code() == StatusCode::kQueueFull) return false;
  if (!job.ok()) {
    flight.finish(job.status());
    return true;
  }
  flight.job = *std::move(job);
  if (flight.notified_fd.get() >= 0)
    static_cast<void>(flight.job.notify_fd(flight.notified_fd.get()));
  return true;
}

Status UnitBox::execute(const Model& model, Flight& flight) {
  rest();  // nobody watches a job that runs here
  ++executing_;
  Status status = without_gil([&] { return unit_.execute(model, flight.job_args()); });
  --executing_;
  return status;
}

void close_all_units() {
  // A unit may be destroyed while another one is waited for.
  const std::vector<UnitBox*> units = open_units();
  for (UnitBox* const unit : units)
    if (std::ranges::find(open_units(), unit) != open_units().end()) unit->close_uninterrupted();
}

namespace {

std::shared_ptr<UnitBox> make_unit(const py::object& device, uint32_t depth,
                                   const std::string& when_full, std::optional<double> watchdog,
                                   bool auto_reset, const std::string& name,
                                   std::optional<double> close_patience, double wait_spin,
                                   bool caller_helps) {
  UnitOptions options;
  options.name = name;
  options.depth = depth;
  options.when_full = policy_named(when_full);
  options.wait_spin = duration_of(wait_spin, "wait_spin");
  options.caller_helps = caller_helps ? CallerHelps::kAuto : CallerHelps::kNever;
  options.watchdog = duration_of(watchdog, "watchdog").value_or(std::chrono::nanoseconds(0));
  options.auto_reset = auto_reset;
  options.close_patience = duration_of(close_patience, "close_patience");
  return std::make_shared<UnitBox>(device_of(device), std::move(options));
}

py::dict statistics_of(UnitBox& self) {
  const UnitStatistics known = self.unit().statistics();
  py::dict named;
  named["submitted"] = known.submitted;
  named["refused"] = known.refused;
  named["in_flight"] = known.in_flight;
  named["succeeded"] = known.succeeded;
  named["cancelled"] = known.cancelled;
  named["dropped"] = known.dropped;
  named["late"] = known.late;
  named["failed"] = known.failed;
  named["mean_run"] = std::chrono::duration<double>(known.mean_run).count();
  return named;
}

void wait_free(UnitBox& self, uint32_t places, const py::object& timeout) {
  const Deadline limit = deadline_after(timeout.ptr());
  while (true) {
    const Status status =
        without_gil([&] { return self.unit().wait_free(places, next_slice(limit)); });
    if (status.ok()) return;
    if (status.code() != StatusCode::kDeadlineExceeded) raise(status);
    if (PyErr_CheckSignals() < 0) throw py::error_already_set();
    if (has_passed(limit))
      raise({StatusCode::kPending, std::to_string(places) + " places did not become free in time"});
  }
}

py::object failure_of(UnitBox& self) {
  const Status failure = self.unit().failure();
  return failure.ok() ? py::none() : exception_of(failure);
}

PyMethodDef unit_submit = {
    "submit", as_method(&submit_to_unit), kFastCall,
    "submit($self, model, inputs, outputs=None, *, deadline=None, deadline_at=None,\n"
    "       strict_zero_copy=False, view='cpu')\n--\n\n"
    "Submits a job of `model` to this unit, as Model.submit() does, and returns its Job."};

}  // namespace

void define_unit(py::module_& module) {
  py::class_<UnitBox, std::shared_ptr<UnitBox>> defined(
      module, "Unit",
      "A bounded queue that runs one job at a time, in the order of submission, for any model of "
      "its\n"
      "device. Jobs that may overtake each other belong on several units.\n\n"
      "A unit that is not used any more is closed: jobs that have not started are cancelled.");
  remember_class<UnitBox>(defined);
  defined
      .def(
          py::init(&make_unit), py::arg("device"), py::kw_only(), py::arg("depth") = 2,
          py::arg("when_full") = "fail", py::arg("watchdog") = py::none(),
          py::arg("auto_reset") = false, py::arg("name") = "",
          py::arg("close_patience") = py::none(), py::arg("wait_spin") = 20e-6,
          py::arg("caller_helps") = true,
          "Creates a unit of a Device, of the device of a Model, or of the device of that name.\n\n"
          "depth           jobs accepted and not completed, 1 to 65,536\n"
          "when_full       the next job \"fail\"s with QueueFull, \"block\"s its submit, makes "
          "the\n"
          "                oldest one give way (\"drop_oldest\": Dropped), or the one that will "
          "be\n"
          "                latest (\"shed_by_deadline\": DeadlineExceeded)\n"
          "watchdog        seconds without progress after which a job is given up (Hung)\n"
          "auto_reset      whether the unit goes on after a job hung or its device failed;\n"
          "                otherwise all jobs fail with UnitDegraded until reset()\n"
          "close_patience  seconds that close() waits for a job without progress\n"
          "wait_spin       seconds that a wait spins before it sleeps\n"
          "caller_helps    whether a thread that waits for a short job may run it itself\n\n"
          "InvalidArgument for a wrong value, ResourceExhausted, NoLane.")
      .def(
          "close", &UnitBox::close,
          "Cancels the jobs that have not started, and waits for the running one. Ctrl-C ends the\n"
          "wait; the unit is closed all the same once that job has ended.")
      .def(
          "reset", [](UnitBox& self) { check(self.unit().reset()); },
          "Puts a degraded unit back into service.")
      .def("wait_free", &wait_free, py::arg("places") = 1, py::arg("timeout") = py::none(),
           "Waits until so many places are free. Pending after `timeout` seconds, Closed.")
      .def("statistics", &statistics_of,
           "Returns what the unit has done so far, as a dict: the numbers of jobs \"submitted\",\n"
           "\"refused\", \"in_flight\", and by outcome \"succeeded\", \"cancelled\", \"dropped\",\n"
           "\"late\" and \"failed\"; and \"mean_run\", the mean time of a run in seconds, 0 if "
           "none\n"
           "was measured.")
      .def_property_readonly("name", [](UnitBox& self) { return self.unit().name(); })
      .def_property_readonly("depth", [](UnitBox& self) { return self.unit().depth(); })
      .def_property_readonly(
          "in_flight", [](UnitBox& self) { return self.unit().in_flight(); },
          "The number of jobs that are accepted and not completed.")
      .def_property_readonly(
          "state", [](UnitBox& self) { return state_name(self.unit().state()); },
          "\"healthy\", \"degraded\" or \"resetting\".")
      .def_property_readonly("failure", &failure_of,
                             "The exception that says why the unit is degraded, or None.")
      .def_property_readonly(
          "generation", [](UnitBox& self) { return self.unit().generation(); },
          "The number of resets.")
      .def("__enter__", [](const py::object& self) { return self; })
      .def("__exit__", [](UnitBox& self, const py::object&, const py::object&,
                          const py::object&) { self.close(); })
      .def("__repr__", [](UnitBox& self) {
        return "<millrace.Unit \"" + self.unit().name() +
               "\": " + std::to_string(self.unit().in_flight()) + " of " +
               std::to_string(self.unit().depth()) + " jobs in flight, " +
               state_name(self.unit().state()) + ">";
      });
  add_method(defined, unit_submit);
}

}  // namespace millrace::python
