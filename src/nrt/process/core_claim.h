// CoreClaim: makes logical cores exclusive among the processes of a user, as those of the vendor's
// devices are, for programs that set MILLRACE_NRT_EXCLUSIVE_CORES.
//
// A file stands for the machine. Its byte N is locked by the process that has core N (a POSIX
// record lock, so the system releases it when the process ends, in whatever way, and F_GETLK names
// the process). The file stays empty. A forked child does not have the claims of its parent.
//
// Not thread-safe: nrt_init and nrt_close, which a mutex serialises, are the only users.
#pragma once

#include <cstdint>
#include <string>

#include "base/files/known_file.h"
#include "base/status.h"
#include "base/unique_fd.h"
#include "nrt/process/core_range.h"

namespace millrace::nrt {

// Says which cores a process claims.
struct CoreRequest {
  CoreRange cores;
  uint32_t all_cores = 1;
  // Any run of as many cores will do, and the first free one is taken.
  bool anywhere = false;
};

class CoreClaim {
 public:
  CoreClaim() = default;  // of no cores
  CoreClaim(CoreClaim&&) noexcept = default;
  CoreClaim& operator=(CoreClaim&&) noexcept = default;
  ~CoreClaim();  // releases the cores

  // Claims cores in the file, which is created if need be. kBusy if there are no such free cores;
  // it names those of the requested cores that others have, and their processes. kIoError if the
  // file cannot be used, and kUnsupported if other users could change it.
  static Result<CoreClaim> make(const std::string& path, const CoreRequest& request);

  CoreRange cores() const noexcept { return cores_; }

 private:
  UniqueFd file_;
  FileIdentity identity_;  // of file_, since a program may close all descriptors and open others
  CoreRange cores_{0, 0};
};

// Returns the file by which processes exclude each other: that of MILLRACE_NRT_EXCLUSIVE_CORES, or
// for 1 the usual one of this user; empty if cores are shared. kInvalidArgument for another text.
Result<std::string> exclusive_core_file();

}  // namespace millrace::nrt
