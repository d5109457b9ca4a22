// The datastore, read by programs that watch devices (nrt/nds/neuron_ds.h).
#include "nrt/nds/neuron_ds.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string_view>
#include <utility>

#include "nrt/calls/monitoring/monitor_call.h"
#include "nrt/counters/counter_files.h"
#include "nrt/terms/device_layout.h"

struct nds_instance {
  uint32_t device = 0;
  std::shared_ptr<const millrace::nrt::CounterFile> counters;
};

namespace millrace::nrt {
namespace {

Status open_datastore(const ndl_device_t* device, pid_t pid, nds_instance_t** instance) {
  if (device == nullptr || instance == nullptr) return invalid_argument("a pointer is null");
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const CounterFile> counters,
                            counters_of(pid == 0 ? ::getpid() : pid));
  *instance = new nds_instance{device->device_index, std::move(counters)};
  return {};
}

// Returns a counter of the core with this number on the device; 0 for a core that the process does
// not see.
Status read_counter(const nds_instance_t* instance, int core, uint32_t counter, uint64_t* value) {
  if (instance == nullptr || value == nullptr) return invalid_argument("a pointer is null");
  if (core < 0 || core >= MAX_NC_PER_DEVICE || counter >= kCounters)
    return invalid_argument(fmt::format("there is no counter {} of core {}", counter, core));
  const CounterFile& counters = *instance->counters;
  const uint32_t all_cores = counters.all_cores.load(), first = counters.first.load();
  *value = 0;
  if (all_cores == 0) return {};
  const uint32_t per_device = cores_per_device(all_cores);
  const uint32_t on_machine = instance->device * per_device + static_cast<uint32_t>(core);
  if (static_cast<uint32_t>(core) >= per_device || on_machine < first) return {};
  if (on_machine < kMostCores && on_machine - first < counters.count.load())
    *value = counters.cores[on_machine].value(counter);
  return {};
}

int refuse_to_write(std::string_view call) noexcept {
  return decline_monitor_call(call, "only the runtime writes counters and objects");
}

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;
using millrace::invalid_argument;
using millrace::Status;

extern "C" {

int nds_open(ndl_device_t* device, pid_t pid, nds_instance_t** inst) {
  return monitor_call("nds_open", [&] { return open_datastore(device, pid, inst); });
}

int nds_close(nds_instance_t* inst) {
  return monitor_call("nds_close", [&]() -> Status {
    if (inst == nullptr) return invalid_argument("the instance is null");
    delete inst;
    return {};
  });
}

int nds_get_nc_counter(nds_instance_t* inst, int pnc_index, uint32_t counter_index,
                       uint64_t* value) {
  return monitor_call("nds_get_nc_counter",
                      [&] { return read_counter(inst, pnc_index, counter_index, value); });
}

int nds_get_nd_counter(nds_instance_t* inst, uint32_t counter_index, uint64_t* value) {
  return monitor_call("nds_get_nd_counter", [&]() -> Status {
    if (inst == nullptr || value == nullptr) return invalid_argument("a pointer is null");
    if (counter_index >= NDS_ND_COUNTER_COUNT)
      return invalid_argument(fmt::format("there is no counter {} of a device", counter_index));
    *value = 0;
    return {};
  });
}

int nds_increment_nc_counter(nds_instance_t*, int, uint32_t, uint64_t) {
  return refuse_to_write("nds_increment_nc_counter");
}
int nds_decrement_nc_counter(nds_instance_t*, int, uint32_t, uint64_t) {
  return refuse_to_write("nds_decrement_nc_counter");
}
int nds_set_nc_counter(nds_instance_t*, int, uint32_t, uint64_t*) {
  return refuse_to_write("nds_set_nc_counter");
}
int nds_increment_nd_counter(nds_instance_t*, uint32_t, uint64_t) {
  return refuse_to_write("nds_increment_nd_counter");
}
int nds_decrement_nd_counter(nds_instance_t*, uint32_t, uint64_t) {
  return refuse_to_write("nds_decrement_nd_counter");
}
int nds_or_nd_counter(nds_instance_t*, uint32_t, uint64_t) {
  return refuse_to_write("nds_or_nd_counter");
}
int nds_set_nd_counter(nds_instance_t*, uint32_t, uint64_t*) {
  return refuse_to_write("nds_set_nd_counter");
}

nds_obj_handle_t nds_obj_new(nds_instance_t*, int) {
  refuse_to_write("nds_obj_new");
  return nullptr;
}
int nds_obj_commit(nds_obj_handle_t) {
  return refuse_to_write("nds_obj_commit");
}
int nds_obj_delete(nds_obj_handle_t) {
  return refuse_to_write("nds_obj_delete");
}

int nds_read_all_model_nodes(nds_instance_t* inst, nds_obj_handle_t** models, size_t* count) {
  return monitor_call("nds_read_all_model_nodes", [&]() -> Status {
    if (inst == nullptr || models == nullptr || count == nullptr)
      return invalid_argument("a pointer is null");
    *models = nullptr;
    *count = 0;
    return {};
  });
}

nds_obj_handle_t nds_read_process_info(nds_instance_t*) {
  return nullptr;
}
nds_obj_handle_t nds_read_process_info_ext(nds_instance_t*) {
  return nullptr;
}
nds_model_node_info_t* nds_obj_handle_to_model_node_info(nds_obj_handle_t) {
  return nullptr;
}
nds_model_node_mem_usage_info_t* nds_obj_handle_to_model_node_mem_usage(nds_obj_handle_t) {
  return nullptr;
}
nds_process_info_t* nds_obj_handle_to_process_info(nds_obj_handle_t) {
  return nullptr;
}
nds_process_info_ext_t* nds_obj_handle_to_process_info_ext(nds_obj_handle_t) {
  return nullptr;
}

}  // extern "C"
