// OrtLibrary: the ONNX Runtime library, opened at run time, for comparisons with Millrace.
//
// It comes from the npm package onnxruntime-node, in the folder that the environment variable
// MILLRACE_PEERS names (bench/peers/fetch.sh installs it). The package has no C header. The table
// of functions, OrtApi, is part of ONNX Runtime's stable interface: entries are only ever added at
// its end, so the functions that are needed are called by their index. Thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.h"

namespace millrace::bench {

// Indices in the function table OrtApi of onnxruntime_c_api.h.
enum class OrtFunction : size_t {
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSessionFromArray = 8,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetSessionGraphOptimizationLevel = 23,
  kSetIntraOpNumThreads = 24,
  kSetInterOpNumThreads = 25,
  kCreateTensorWithDataAsOrtValue = 49,
  kCreateCpuMemoryInfo = 69,
  kReleaseEnv = 92,
  kReleaseStatus = 93,
  kReleaseMemoryInfo = 94,
  kReleaseSession = 95,
  kReleaseValue = 96,
  kReleaseSessionOptions = 100,
};

class OrtLibrary {
 public:
  // Loads the library. kNotFound, with a human-readable reason, if MILLRACE_PEERS is not set or the
  // package is missing. The library is never unloaded, since it has threads and state of its own.
  static Result<OrtLibrary> open();

  // Returns the version, for example "1.30.0".
  const std::string& version() const { return version_; }

  // Calls a function that returns an OrtStatus. The arguments must have exactly the types of the C
  // function's parameters, except that any pointer types may be used.
  template <class... Arguments>
  Status call(OrtFunction function, Arguments... arguments) const {
    return status_of(reinterpret_cast<void* (*)(Arguments...)>(at(function))(arguments...));
  }
  // Calls `function`, which releases an object; does nothing for a null pointer.
  void release(OrtFunction function, void* object) const;

 private:
  OrtLibrary(void* const* functions, std::string version)
      : functions_(functions), version_(std::move(version)) {}
  void* at(OrtFunction function) const { return functions_[static_cast<size_t>(function)]; }
  Status status_of(void* failure) const;

  void* const* functions_;
  std::string version_;
};

// Returns the folder that MILLRACE_PEERS names; kNotFound if it is not set.
Result<std::string> peers_folder();

}  // namespace millrace::bench
