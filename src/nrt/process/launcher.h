// Reads the rank of this process from the environment variables of the launcher that started it:
// torchrun, mpirun (Open MPI, or MPICH through PMI) or srun. docs/nrt-ranks.md lists the variables.
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
// that has an invalid value.
Result<std::optional<LaunchedRank>> rank_of_launcher();

// Returns the rendezvous address as host:port: NEURON_RT_ROOT_COMM_ID, or else MASTER_ADDR with the
// port after MASTER_PORT, at which torchrun's own store listens. Empty if neither is set.
std::string meeting_place();

}  // namespace millrace::nrt
