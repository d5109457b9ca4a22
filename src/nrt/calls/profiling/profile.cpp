// Three recordings that are written as Chrome traces: the profile of one model
// (nrt_profile_start), the continuous profile of all executions (nrt_profile_continuous_start) and
// the trace of all calls and requests (nrt_trace_start). They work independently of each other.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "nrt/calls/call.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_profile.h"
#include "nrt/objects/model.h"
#include "nrt/recording/chrome_trace.h"
#include "nrt/recording/model_profile.h"
#include "nrt/recording/output.h"
#include "nrt/recording/recording.h"

struct nrt_profile_continuous_options {
  std::string output_dir = ".";
};

namespace millrace::nrt {
namespace {

// The model profiles in progress, by file name.
struct Profiles {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<trace::ModelProfile>> by_file;
};

// The following objects are never destroyed, since a program may exit while it profiles.
Profiles& profiles() {
  static auto* const profiles = new Profiles;
  return *profiles;
}
trace::Recording& continuous_profile() {
  static auto* const recording = new trace::Recording;
  return *recording;
}
trace::Recording& call_trace() {
  static auto* const recording = new trace::Recording;
  return *recording;
}

NRT_STATUS begin_profile(const char* call, const std::shared_ptr<Model>& model,
                         const char* filename) {
  Profiles& known = profiles();
  const std::lock_guard lock(known.mutex);
  if (known.by_file.contains(filename))
    return report(call, NRT_INVALID, fmt::format("the profile {} has begun already", filename));
  if (const Status writable = trace::check_file(filename); !writable.ok())
    return report(call, writable);
  const auto profile = std::make_shared<trace::ModelProfile>(model);
  const auto entry = known.by_file.emplace(filename, profile).first;
  try {
    trace::add_listener(profile);
  } catch (const std::bad_alloc&) {
    known.by_file.erase(entry);
    throw;
  }
  return NRT_SUCCESS;
}

// Writes a profile and ends it. If the file cannot be written, the profile continues.
NRT_STATUS end_profile(const char* call, const char* filename) {
  Profiles& known = profiles();
  const std::lock_guard lock(known.mutex);
  const auto entry = known.by_file.find(filename);
  if (entry == known.by_file.end())
    return report(call, NRT_INVALID, fmt::format("no profile has begun for {}", filename));
  const Status written = trace::write_file(filename, entry->second->text());
  if (!written.ok()) return report(call, written);
  trace::remove_listener(*entry->second);
  known.by_file.erase(entry);
  return NRT_SUCCESS;
}

trace::Capture all_but_memory() {
  trace::Capture capture;
  for (const char* type :
       {"nrt_tensor_allocate", "nrt_tensor_allocate_empty", "nrt_tensor_allocate_slice",
        "nrt_tensor_attach_buffer", "nrt_tensor_free", "nrt_pinned_malloc", "nrt_pinned_free"})
    capture.enable_type(type, false);
  return capture;
}

trace::Recording::Save to_file(std::string path) {
  return [path = std::move(path)](std::span<const trace::Event> events) {
    return trace::write_file(path, trace::chrome_trace_of(events).text());
  };
}

// Returns the status of saving a recording; NRT_INVALID with the message `otherwise` if there was
// no recording to save.
NRT_STATUS outcome_of(const char* call, const std::optional<Status>& saved, const char* otherwise) {
  return saved ? report(call, *saved) : report(call, NRT_INVALID, otherwise);
}

bool is_empty(const char* text) noexcept {
  return text == nullptr || *text == '\0';
}

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;

extern "C" {

NRT_STATUS nrt_profile_start(nrt_model_t* model, const char* filename) {
  constexpr const char* kCall = "nrt_profile_start";
  return with_runtime(kCall, [&](Runtime&) {
    const std::shared_ptr<Model>& profiled = ModelHandles::find(model);
    if (profiled == nullptr) return report(kCall, NRT_INVALID_HANDLE, kNoModel);
    if (is_empty(filename)) return report(kCall, NRT_INVALID, "the file name is null or empty");
    return begin_profile(kCall, profiled, filename);
  });
}

NRT_STATUS nrt_profile_stop(const char* filename) {
  constexpr const char* kCall = "nrt_profile_stop";
  return contained(kCall, [&] {
    if (is_empty(filename)) return report(kCall, NRT_INVALID, "the file name is null or empty");
    return end_profile(kCall, filename);
  });
}

NRT_STATUS nrt_profile_continuous_options_allocate(nrt_profile_continuous_options_t** options) {
  constexpr const char* kCall = "nrt_profile_continuous_options_allocate";
  return contained(kCall, [&] {
    if (options == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    *options = new nrt_profile_continuous_options;
    return NRT_SUCCESS;
  });
}
NRT_STATUS nrt_profile_continuous_options_free(nrt_profile_continuous_options_t* options) {
  delete options;
  return NRT_SUCCESS;
}
NRT_STATUS nrt_profile_continuous_options_set_output_dir(nrt_profile_continuous_options_t* options,
                                                         const char* output_dir) {
  constexpr const char* kCall = "nrt_profile_continuous_options_set_output_dir";
  return contained(kCall, [&] {
    if (options == nullptr || is_empty(output_dir))
      return report(kCall, NRT_INVALID, "the options are null, or the directory is null or empty");
    options->output_dir = output_dir;
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_profile_continuous_start(nrt_profile_continuous_options_t*) {
  constexpr const char* kCall = "nrt_profile_continuous_start";
  return with_runtime(kCall, [&](Runtime&) {
    trace::Capture executions;
    executions.types.reset().set(trace::kExecRunning);
    return continuous_profile().start(executions)
               ? NRT_SUCCESS
               : report(kCall, NRT_INVALID, "the continuous profile has begun already");
  });
}

NRT_STATUS nrt_profile_continuous_save(uint32_t vnc, nrt_profile_continuous_options_t* options) {
  constexpr const char* kCall = "nrt_profile_continuous_save";
  return with_core(kCall, vnc, [&](Runtime&) {
    const nrt_profile_continuous_options chosen =
        options == nullptr ? nrt_profile_continuous_options() : *options;
    const auto path =
        std::filesystem::path(chosen.output_dir) / fmt::format("profile_vnc_{}.json", vnc);
    return outcome_of(kCall, continuous_profile().save(vnc, to_file(path.string())),
                      "the continuous profile has not begun");
  });
}

NRT_STATUS nrt_profile_continuous_stop(void) {
  constexpr const char* kCall = "nrt_profile_continuous_stop";
  return contained(kCall, [&] {
    return continuous_profile().stop()
               ? NRT_SUCCESS
               : report(kCall, NRT_INVALID, "the continuous profile has not begun");
  });
}

NRT_STATUS nrt_trace_start(bool trace_mem) {
  constexpr const char* kCall = "nrt_trace_start";
  return contained(kCall, [&] {
    return call_trace().start(trace_mem ? trace::Capture() : all_but_memory())
               ? NRT_SUCCESS
               : report(kCall, NRT_INVALID, "the trace has begun already");
  });
}

NRT_STATUS nrt_trace_stop(const char* filename) {
  constexpr const char* kCall = "nrt_trace_stop";
  return contained(kCall, [&] {
    if (is_empty(filename)) return report(kCall, NRT_INVALID, "the file name is null or empty");
    return outcome_of(kCall, call_trace().finish(to_file(filename)), "no trace has begun");
  });
}

}  // extern "C"
