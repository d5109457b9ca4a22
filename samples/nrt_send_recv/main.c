// nrt_send_recv: one process computes, another one gets the results.
//
//   process A, core 0: nrt_execute -> send      process B, core 1: receive -> compare
//
// Without -s and -r both run on this host. B computes the same itself, to compare.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "link.h"
#include "model.h"
#include "options.h"
#include "processes.h"

static const char help[] =
    "Usage: nrt_send_recv [-n ITEMS] [-s PEER | -r PEER] MODEL.rai\n"
    "  -n ITEMS    how many items to compute (16)\n"
    "  -s PEER     only sends, to the process at this IP address\n"
    "  -r PEER     only receives, from the process at this IP address\n"
    "  -h, --help  shows this\n";

typedef struct {
  const char* model;
  long items;
  const char* sends_to;
  const char* receives_from;
} arguments;

// Computes item `number` into the outputs' tensors.
static bool compute(const loaded_model* loaded, const tensor_group* group, long number) {
  fill_inputs(group, (unsigned)number);
  for (size_t i = 0; i < group->count; ++i) {
    const bound_tensor* bound = &group->tensors[i];
    if (bound->info->usage == NRT_TENSOR_USAGE_INPUT &&
        !succeeded(nrt_tensor_write(bound->tensor, bound->host, 0, bound->info->size),
                   "nrt_tensor_write"))
      return false;
  }
  return succeeded(nrt_execute(loaded->model, group->inputs, group->outputs), "nrt_execute");
}

// Sends the output, or receives one and compares.
static bool exchange(const peer_link* link, const bound_tensor* output, nrt_tensor_t* received) {
  const size_t size = output->info->size;
  if (link->sends) return move_tensor(link, output->tensor, size);
  if (!move_tensor(link, received, size)) return false;
  if (memcmp(nrt_tensor_get_va(output->tensor), nrt_tensor_get_va(received), size) == 0)
    return true;
  fprintf(stderr, "Error: what was received is not what is computed here\n");
  return false;
}

static bool run_items(const peer_link* link, const loaded_model* loaded, const tensor_group* group,
                      long items) {
  const bound_tensor* output = &group->tensors[group->count - 1];
  nrt_tensor_t* received = NULL;
  if (!succeeded(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, output->info->size, "received",
                                     &received),
                 "nrt_tensor_allocate"))
    return false;
  long item = 0;
  while (item < items && compute(loaded, group, item) && exchange(link, output, received)) ++item;
  if (!link->sends) printf("%ld of %ld results received, all as computed here\n", item, items);
  nrt_tensor_free(&received);
  return item == items;
}

static int run_side(const arguments* parsed, bool sends, const char* peer) {
  // Each side has the core of its number; the calls count cores from 0 on.
  setenv("NEURON_RT_VISIBLE_CORES", sends ? "0" : "1", 1);
  if (!succeeded(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), "nrt_init")) return 1;
  loaded_model loaded = {0};
  tensor_group group = {0};
  peer_link link;
  const bool done = load_model(parsed->model, 0, &loaded) && allocate_tensors(&loaded, 0, &group) &&
                    open_link(sends, peer, &link) &&
                    run_items(&link, &loaded, &group, parsed->items) && close_link(&link);
  free_tensors(&group);
  unload_model(&loaded);
  nrt_close();
  return finish_output(done ? 0 : 1);
}

// Forks before anything has started the runtime.
static int run_both(const arguments* parsed) {
  const char* this_host = "127.0.0.1";
  const pid_t sender = fork();
  if (sender == 0) _exit(run_side(parsed, true, this_host));
  if (sender < 0) {
    perror("fork");
    return 1;
  }
  const int received = run_side(parsed, false, this_host);
  int status = 0;
  const bool sent = await_process(sender, &status) && status == 0;
  return received == 0 && sent ? 0 : 1;
}

int main(int argc, char** argv) {
  arguments parsed = {.items = 16};
  for (int option; (option = next_option(argc, argv, "hn:s:r:")) != -1;) {
    if (option == 's')
      parsed.sends_to = optarg;
    else if (option == 'r')
      parsed.receives_from = optarg;
    else if (option != 'n' || !parse_count(optarg, 'n', &parsed.items))
      return end_with_usage(help, option);
  }
  if (!parse_model(argc, argv, &parsed.model)) return end_with_usage(help, '?');
  if (parsed.sends_to != NULL) return run_side(&parsed, true, parsed.sends_to);
  if (parsed.receives_from != NULL) return run_side(&parsed, false, parsed.receives_from);
  return run_both(&parsed);
}
