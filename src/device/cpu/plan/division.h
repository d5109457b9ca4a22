// Division: into how many chunks each operator of a program is divided, so that idle lanes can take
// part in it (dnnl/openmp/openmp.h).
//
// It is decided when a program is loaded, because a primitive is made for a number of threads, and
// is the same for every job, whatever else runs. An operator that is too short for it stays in one
// piece, and so do all operators of a program that is too short to wake a lane for.
#pragma once

#include <cstdint>
#include <vector>

#include "device/cpu/dnnl/desc.h"
#include "graph/compiled_model.h"

namespace millrace::device::cpu::plan {

class Division {
 public:
  // For programs that compute in `type`, on a device that may use `lanes` for one job.
  Division(const graph::CompiledModel& model, ElementType type, uint32_t lanes);

  // From 1 to the number of lanes.
  uint32_t chunks_of(const graph::Node& node) const;
  // chunks_of() each node of the model, in its order.
  std::vector<uint32_t> chunks() const;

 private:
  double nanoseconds_of(const graph::Node& node) const;

  const graph::Graph& graph_;
  const double multiplications_per_ns_;
  const uint32_t lanes_;
  bool worthwhile_ = true;
};

}  // namespace millrace::device::cpu::plan
