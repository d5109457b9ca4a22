// A program that watches devices: prints what it finds of the process that its argument names.
#include <ndl/ndl.h>
#include <nrt/nds/neuron_ds.h>
#include <stdio.h>
#include <stdlib.h>

static void print_counters(ndl_device_t* device, int pid) {
  static const struct {
    const char* name;
    uint32_t counter;
  } kCounters[] = {{"time", NDS_NC_COUNTER_TIME_IN_USE},
                   {"completed", NDS_NC_COUNTER_INFER_COMPLETED},
                   {"executed", NDS_NC_COUNTER_INFERENCE_COUNT},
                   {"oob", NDS_NC_COUNTER_OOB},
                   {"loaded", NDS_NC_COUNTER_MODEL_LOAD_COUNT}};
  nds_instance_t* instance = NULL;
  if (nds_open(device, pid, &instance) != 0) {
    printf("no counters\n");
    return;
  }
  for (int core = 0; core < MAX_NC_PER_DEVICE; ++core)
    for (size_t i = 0; i < sizeof kCounters / sizeof *kCounters; ++i) {
      uint64_t value = 0;
      if (nds_get_nc_counter(instance, core, kCounters[i].counter, &value) == 0 && value != 0)
        printf("core %d %s %llu\n", core, kCounters[i].name, (unsigned long long)value);
    }
  nds_close(instance);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const int pid = atoi(argv[1]);
  int indexes[NEURON_MAX_DEVICES];
  const int devices = ndl_available_devices(indexes, NEURON_MAX_DEVICES);
  for (int i = 0; i < devices; ++i) {
    ndl_device_t* device = NULL;
    if (ndl_open_device(indexes[i], NULL, &device) != 0) return 1;
    struct neuron_app_info* apps = NULL;
    size_t count = 0;
    if (ndl_get_all_apps_info(device, &apps, &count, APP_INFO_ALL) != 0) return 1;
    for (size_t app = 0; app < count; ++app) {
      if (apps[app].pid != pid) continue;
      printf("device %d cores %#x memory %zu\n", device->device_index, apps[app].nc_lock_map,
             apps[app].device_mem_size);
      print_counters(device, pid);
    }
    free(apps);
    ndl_close_device(device);
  }
  return 0;
}
