// OrtLibrary: ONNX Runtime, opened at run time, to be measured beside Millrace.
//
// The library comes from the npm package onnxruntime-node, in the folder that the environment
// variable MILLRACE_PEERS names (bench/peers/fetch.sh gets it). The package holds no C header. The
// table of functions, OrtApi, is part of ONNX Runtime's stable interface: entries are only ever
// added at its end, so the few that are needed are called by their index. Thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.h"

namespace millrace::bench {

// Indices in the table of functions of onnxruntime_c_api.h.
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
  // kNotFound, with a human-readable reason, when MILLRACE_PEERS or the package is missing. The
  // library stays loaded: it keeps threads and state of its own.
  static Result<OrtLibrary> open();

  // "1.30.0".
  const std::string& version() const { return version_; }

  // Calls a function that returns a status of the library's. The arguments must have the very types
  // of the C function's parameters, up to pointers.
  template <class... Arguments>
  Status call(OrtFunction function, Arguments... arguments) const {
    return status_of(reinterpret_cast<void* (*)(Arguments...)>(at(function))(arguments...));
  }
  // Calls the function that releases such an object; does nothing for a null pointer.
  void release(OrtFunction function, void* object) const;

 private:
  OrtLibrary(void* const* functions, std::string version)
      : functions_(functions), version_(std::move(version)) {}
  void* at(OrtFunction function) const { return functions_[static_cast<size_t>(function)]; }
  Status status_of(void* failure) const;

  void* const* functions_;
  std::string version_;
};

// The folder that MILLRACE_PEERS names; kNotFound where it names none.
Result<std::string> peers_folder();

}  // namespace millrace::bench
