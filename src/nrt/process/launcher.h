// Reads what the launcher of a program of several ranks says in the environment. torchrun, mpirun
// (Open MPI, and MPICH by its PMI) and srun are understood; docs/nrt-ranks.md lists the variables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"

namespace millrace::nrt {

struct LaunchedRank {
  uint32_t rank = 0;
  uint32_t ranks = 1;
};

// Returns the rank of this process; none without a launcher. kInvalidArgument names a variable
// that makes no sense.
Result<std::optional<LaunchedRank>> rank_of_launcher();

// The address where the ranks meet: NEURON_RT_ROOT_COMM_ID, or else the port after that of
// torchrun's own store. Empty if neither is set.
std::string meeting_place();

}  // namespace millrace::nrt
