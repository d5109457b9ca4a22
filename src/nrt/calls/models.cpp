// Models: nrt_load and nrt_unload, and the queries about a loaded model and its tensors.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "base/contained.h"
#include "base/log.h"
#include "check/check.h"
#include "nrt/calls/call.h"
#include "nrt/calls/out_values.h"
#include "nrt/calls/rank_call.h"
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "nrt/objects/model.h"

namespace millrace::nrt {
namespace {

// Runs `body(model)` if the handle is live; otherwise returns NRT_INVALID_HANDLE.
template <class Body>
NRT_STATUS with_model(const char* call, const nrt_model_t* handle, Body&& body) noexcept {
  return with_runtime(call, [&](Runtime&) {
    const std::shared_ptr<Model>& model = ModelHandles::find(handle);
    if (model == nullptr) return report(call, NRT_INVALID_HANDLE, kNoModel);
    trace::note_core(static_cast<int>(model->core()));
    return body(*model);
  });
}

void log_model(const char* call, const Model& model) {
  if (!log_enabled(LogLevel::kInfo)) return;
  log(LogLevel::kInfo, "nrt",
      fmt::format("{}: model \"{}\" on core {}, weights of {} bytes", call, model.name(),
                  model.core(), model.executor()->program().info().weight_bytes));
}

// Implements deprecated queries whose answer is 1 for every model.
NRT_STATUS one_per_model(const char* call, const nrt_model_t* handle, uint32_t* count) noexcept {
  return with_model(call, handle, [&](const Model&) {
    if (count == nullptr) return report(call, NRT_INVALID, "the result pointer is null");
    *count = 1;
    return NRT_SUCCESS;
  });
}

// Loads a model, as rank `own` of a program of several ranks. Takes a communicator only after the
// arguments have been checked: the n-th communicator of a rank connects it to the n-th model of the
// other ranks, and a call that failed must not use one up.
NRT_STATUS load(const char* call, const void* bytes, size_t size, int32_t core, int32_t core_count,
                nrt_model_t** model, const LaunchedRank& own = {}) noexcept {
  return with_runtime(call, [&](Runtime& runtime) {
    if (bytes == nullptr || model == nullptr)
      return report(call, NRT_INVALID, "an argument is null");
    if (core_count > 1)
      return report(call, NRT_LOAD_NOT_ENOUGH_NC,
                    fmt::format("vnc_count is {}, but a model runs on one core", core_count));
    if (core_count != -1 && core_count != 1)
      return report(call, NRT_INVALID,
                    fmt::format("vnc_count is {}: it must be 1 or -1", core_count));
    if (const Status known = core == kNoCore ? Status() : runtime.check_core(core); !known.ok())
      return report(call, NRT_LOAD_NOT_ENOUGH_NC, known.message());
    std::shared_ptr<ranks::Communicator> communicator;
    if (own.ranks > 1) {
      auto met = runtime.ranks().communicator_of_model(own.rank, own.ranks);
      if (!met.ok()) return report_rank_failure(call, met.status());
      communicator = *std::move(met);
    }
    const std::span content(static_cast<const std::byte*>(bytes), size);
    // Exceptions such as bad_alloc become a status, so that the communicator is returned below.
    Result<std::shared_ptr<Model>> loaded =
        millrace::contained([&] { return runtime.load(content, core, communicator); });
    if (!loaded.ok() && communicator != nullptr)
      runtime.ranks().return_unused(own.rank, std::move(communicator));
    if (loaded.status().code() == StatusCode::kUnsupported)
      return report(call, NRT_UNSUPPORTED_NEFF_VERSION, loaded.status().message());
    if (!loaded.ok()) return report(call, loaded.status());
    trace::note_core(static_cast<int>((*loaded)->core()));
    log_model(call, **loaded);
    *model = ModelHandles::of_process().make(*std::move(loaded));
    return NRT_SUCCESS;
  });
}

// Fills `info` with the description of a tensor. Stores the shape at `shapes` and advances that
// past it.
void write(const ModelTensor& tensor, nrt_tensor_info_t& info, uint32_t*& shapes) {
  const size_t length = std::min<size_t>(tensor.name.size(), NRT_TENSOR_NAME_MAX - 1);
  std::memcpy(info.name, tensor.name.data(), length);
  info.usage = tensor.usage;
  info.size = tensor.bytes;
  info.dtype = tensor.type;
  info.shape = shapes;
  info.ndim = static_cast<uint32_t>(tensor.shape.size());
  shapes = std::copy(tensor.shape.begin(), tensor.shape.end(), shapes);
}

// Returns one block of memory with the descriptions of all tensors, inputs first, followed by their
// shapes. Names longer than NRT_TENSOR_NAME_MAX - 1 bytes are truncated. The caller releases the
// block with std::free. Throws bad_alloc.
nrt_tensor_info_array_t* make_tensor_info(const Model& model) {
  size_t tensors = 0, extents = 0;
  for (const auto* side : {&model.inputs(), &model.outputs()}) {
    tensors += side->size();
    for (const ModelTensor& tensor : *side) extents += tensor.shape.size();
  }
  const size_t shapes_at = sizeof(nrt_tensor_info_array_t) + tensors * sizeof(nrt_tensor_info_t);
  void* const block = std::calloc(1, shapes_at + extents * sizeof(uint32_t));
  if (block == nullptr) throw std::bad_alloc();
  auto* const array = static_cast<nrt_tensor_info_array_t*>(block);
  auto* shapes = reinterpret_cast<uint32_t*>(static_cast<std::byte*>(block) + shapes_at);
  for (const auto* side : {&model.inputs(), &model.outputs()})
    for (const ModelTensor& tensor : *side)
      write(tensor, array->tensor_array[array->tensor_count++], shapes);
  return array;
}

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;

extern "C" {

NRT_STATUS nrt_load(const void* neff_bytes, size_t size, int32_t vnc, int32_t vnc_count,
                    nrt_model_t** model) {
  return load("nrt_load", neff_bytes, size, vnc, vnc_count, model);
}

NRT_STATUS nrt_load_collectives(const void* neff_bytes, size_t size, int32_t vnc, int32_t vnc_count,
                                uint32_t ctx_device_id, uint32_t ctx_device_count,
                                nrt_model_t** model) {
  constexpr const char* kCall = "nrt_load_collectives";
  return with_runtime(kCall, [&](Runtime&) {
    LaunchedRank rank;
    const NRT_STATUS status = find_rank(kCall, ctx_device_id, ctx_device_count, rank);
    if (status != NRT_SUCCESS) return status;
    return load(kCall, neff_bytes, size, vnc, vnc_count, model, rank);
  });
}

NRT_STATUS nrt_unload(nrt_model_t* model) {
  constexpr const char* kCall = "nrt_unload";
  return with_runtime(kCall, [&](Runtime& runtime) {
    const std::shared_ptr<Model> unloaded = ModelHandles::of_process().drop(model);
    if (unloaded == nullptr) return report(kCall, NRT_INVALID_HANDLE, kNoModel);
    trace::note_core(static_cast<int>(unloaded->core()));
    if (millrace::check::on()) [[unlikely]]
      millrace::check::note_model_freed(kCall, fmt::format("model \"{}\"", unloaded->name()),
                                        unloaded.get());
    runtime.bindings().clear();
    log_model(kCall, *unloaded);
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_get_model_nc_count(const nrt_model_t* model, uint32_t* nc_count) {
  return one_per_model("nrt_get_model_nc_count", model, nc_count);
}
NRT_STATUS nrt_get_model_vnc_count(const nrt_model_t* model, uint32_t* vnc_count) {
  return one_per_model("nrt_get_model_vnc_count", model, vnc_count);
}
NRT_STATUS nrt_get_model_instance_count(nrt_model_t* model, uint32_t* instance_count) {
  return one_per_model("nrt_get_model_instance_count", model, instance_count);
}

NRT_STATUS nrt_get_model_info(const nrt_model_t* model, nrt_model_info_t* info, size_t info_size_in,
                              size_t* info_size_out) {
  constexpr const char* kCall = "nrt_get_model_info";
  return with_model(kCall, model, [&](const Model& loaded) {
    if (info == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    const nrt_model_info_t own{loaded.core()};
    const size_t written = copy_out(own, info, info_size_in);
    if (info_size_out != nullptr) *info_size_out = written;
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_get_model_tensor_info(nrt_model_t* model, nrt_tensor_info_array_t** tensor_info) {
  constexpr const char* kCall = "nrt_get_model_tensor_info";
  return with_model(kCall, model, [&](const Model& loaded) {
    if (tensor_info == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    *tensor_info = make_tensor_info(loaded);
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_free_model_tensor_info(nrt_tensor_info_array_t* tensor_info) {
  const trace::CallScope traced("nrt_free_model_tensor_info");
  std::free(tensor_info);
  return NRT_SUCCESS;
}

}  // extern "C"
