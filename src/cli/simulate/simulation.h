// Simulates a host and a device in virtual time: a program that submits jobs, units with bounded
// queues, and the lanes that they share. It follows the rules of the real queue: a unit runs one
// job at a time, in order, and a lane that is free takes the unit with the oldest job. Costs of the
// runtime itself, some microseconds per job, are not simulated. Thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "device/paced/service_times.h"

namespace millrace::cli {

// Says what happens to a job whose unit is full.
enum class OnFull : uint8_t {
  kBlock,       // the program waits with it, and submits no other job meanwhile
  kRefuse,      // the job is refused
  kDropOldest,  // the job that has waited longest in that unit is dropped
};

enum class Arrivals : uint8_t {
  kPoisson,  // at random times, as from many independent clients
  kEven,     // at equal distances, as frames of a camera
};

struct SimulatedSystem {
  const device::ServiceTimes* times = nullptr;  // not null
  uint32_t lanes = 1;
  uint32_t units = 1;   // jobs go to them in turn
  uint32_t depth = 32;  // of each unit: jobs that wait or run
  uint32_t ranks = 1;   // devices that run each job together; it takes as long as the slowest
  OnFull on_full = OnFull::kBlock;
};

// Either jobs that arrive at a rate, whatever the device does, or a number of jobs that are kept in
// flight.
struct SimulatedLoad {
  double per_second = 0;  // the mean rate; 0: `in_flight` counts
  uint32_t in_flight = 1;
  Arrivals arrivals = Arrivals::kPoisson;
  uint64_t jobs = 10'000;
  uint64_t seed = 1;  // of arrivals and of service times
};

struct SimulatedRun {
  // From the arrival of each job that ran until its end, in the order in which jobs ended.
  std::vector<double> latencies_ms;
  uint64_t refused = 0, dropped = 0;
  double seconds = 0;      // from the first arrival to the end of the last job
  double utilisation = 0;  // the share of that time for which lanes were busy, 0 to 1
  uint32_t most_waiting =
      0;  // the most jobs that waited at a time, those of a blocked program, too
};

// The same system, load and seed give the same run, on every machine with the same C library.
// Requirement: there is at least one
// lane, unit, rank, job and place in a queue; jobs that are kept in flight block; and all jobs
// arrive within a hundred years.
SimulatedRun simulate(const SimulatedSystem& system, const SimulatedLoad& load);

}  // namespace millrace::cli
