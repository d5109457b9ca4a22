// nrt_tensor_parallel: runs a model that `millrace shard` has divided among ranks, which are
// processes of this program.
//
//   fork a process per archive -> nrt_load_collectives on two cores -> execute -> compare
//
// Every rank is given the same inputs, and all of them make the same outputs. They run once with
// one request at a time and once with two, of which one computes while the other waits for the
// other ranks.
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "model.h"
#include "nrt/nrt_async.h"
#include "options.h"
#include "processes.h"

enum { MOST_RANKS = 64, INSTANCES = 2 };

typedef struct {
  long executions;
  int ranks;
  char** archives;  // by rank
} arguments;

// The result that a rank sends to the parent.
typedef struct {
  unsigned long hash;     // of the outputs of the last executions
  double one_ms, two_ms;  // per execution, with one and with two in flight
} result;

// A model on a core, with its tensors.
typedef struct {
  loaded_model loaded;
  tensor_group group;
  NRT_STATUS status;  // of its last request
  nrta_seq_t request;
} instance;

static const char help[] =
    "Usage: nrt_tensor_parallel [options] RANK0.rai RANK1.rai ...\n"
    "  -n COUNT    executions to time (20)\n"
    "  -h, --help  shows this\n";

// 0, or the option that ends the program.
static int parse(int argc, char** argv, arguments* parsed) {
  *parsed = (arguments){.executions = 20};
  for (int option; (option = next_option(argc, argv, "hn:")) != -1;)
    if (option != 'n' || !parse_count(optarg, 'n', &parsed->executions)) return option;
  parsed->ranks = argc - optind;
  parsed->archives = argv + optind;
  if (parsed->ranks >= 2 && parsed->ranks <= MOST_RANKS) return 0;
  fprintf(stderr, "Error: %d archives: there is one for each of 2 to %d ranks\n", parsed->ranks,
          MOST_RANKS);
  return '?';
}

// Has the ranks meet at a free port. The socket that keeps the port ours stays open until the
// program ends.
static bool choose_place(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  const int on = 1, keeper = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (keeper < 0 || setsockopt(keeper, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(keeper, (struct sockaddr*)&address, size) != 0 ||
      getsockname(keeper, (struct sockaddr*)&address, &size) != 0)
    return perror("Error: a port for the ranks to meet"), false;
  char place[32];
  snprintf(place, sizeof place, "127.0.0.1:%d", ntohs(address.sin_port));
  return setenv("NEURON_RT_ROOT_COMM_ID", place, 1) == 0;
}

// Every rank loads the same models in the same order: the first of one meets the first of the
// others.
static bool load(const char* path, int core, int rank, int ranks, instance* made) {
  size_t size = 0;
  void* bytes = read_file(path, &size);
  if (bytes == NULL) return false;
  const NRT_STATUS status = nrt_load_collectives(bytes, size, core, 1, (uint32_t)rank,
                                                 (uint32_t)ranks, &made->loaded.model);
  free(bytes);
  if (!succeeded(status, "nrt_load_collectives") ||
      !succeeded(nrt_get_model_tensor_info(made->loaded.model, &made->loaded.info),
                 "nrt_get_model_tensor_info") ||
      !allocate_tensors(&made->loaded, core, &made->group))
    return false;
  fill_inputs(&made->group, 1);
  for (size_t i = 0; i < made->group.count; ++i) {
    const bound_tensor* bound = &made->group.tensors[i];
    // Numbers of tokens, which are not to be beyond a vocabulary.
    if (bound->info->dtype != NRT_DTYPE_FLOAT32) memset(bound->host, 0, bound->info->size);
    if (bound->info->usage == NRT_TENSOR_USAGE_INPUT &&
        !succeeded(nrt_tensor_write(bound->tensor, bound->host, 0, bound->info->size),
                   "nrt_tensor_write"))
      return false;
  }
  return true;
}

static bool start(instance* at) {
  at->status = NRT_SUCCESS;
  return succeeded(nrta_execute_schedule(at->loaded.model, at->group.inputs, at->group.outputs, 0,
                                         &at->status, &at->request),
                   "nrta_execute_schedule");
}

static bool finish(instance* at) {
  for (bool completed = false; !completed; usleep(20))
    if (!succeeded(nrta_is_completed(at->request, &completed), "nrta_is_completed")) return false;
  return succeeded(at->status, "an execution");
}

// Milliseconds per execution with so many in flight, each on a core of its own; negative: a
// failure.
static double time_executions(instance* instances, int in_flight, long executions) {
  const double begin = milliseconds_now();
  long started = 0, finished = 0;
  for (bool ok = true; finished < executions; ++finished) {
    for (; ok && started < executions && started < finished + in_flight; ++started)
      ok = start(&instances[started % in_flight]);
    if (!ok || !finish(&instances[finished % in_flight])) return -1;
  }
  return (milliseconds_now() - begin) / (double)executions;
}

static bool read_outputs(const tensor_group* group) {
  for (size_t i = 0; i < group->count; ++i) {
    const bound_tensor* bound = &group->tensors[i];
    if (bound->info->usage == NRT_TENSOR_USAGE_OUTPUT &&
        !succeeded(nrt_tensor_read(bound->tensor, bound->host, 0, bound->info->size),
                   "nrt_tensor_read"))
      return false;
  }
  return true;
}

static bool run_rank(const arguments* arguments, int rank, instance* instances, result* result) {
  uint32_t cores = 0;
  if (!succeeded(nrt_get_visible_nc_count(&cores), "nrt_get_visible_nc_count")) return false;
  for (int i = 0; i < INSTANCES; ++i)
    if (!load(arguments->archives[rank], i % (int)cores, rank, arguments->ranks, &instances[i]))
      return false;
  result->one_ms = time_executions(instances, 1, arguments->executions);
  if (result->one_ms < 0) return false;
  result->two_ms = time_executions(instances, 2, arguments->executions);
  if (result->two_ms < 0) return false;
  for (int i = 0; i < INSTANCES; ++i) {
    if (!read_outputs(&instances[i].group)) return false;
    const unsigned long hash = hash_outputs(&instances[i].group);
    if (i > 0 && hash != result->hash) return succeeded(NRT_FAILURE, "the same in both instances");
    result->hash = hash;
  }
  return true;
}

// The whole life of a rank, in a process of its own. Its exit code.
static int be_rank(const arguments* arguments, int rank, int report) {
  if (!succeeded(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), "nrt_init")) return 1;
  instance instances[INSTANCES] = {0};
  result result = {0};
  bool ok = run_rank(arguments, rank, instances, &result);
  ok = ok && write_whole(report, &result, sizeof result);
  for (int i = 0; i < INSTANCES; ++i) {
    free_tensors(&instances[i].group);
    unload_model(&instances[i].loaded);
  }
  nrt_close();
  return ok ? 0 : 1;
}

// The process of a rank; -1, with a line on standard error, when there can be none. `report` is
// where it says what it has found.
static pid_t start_rank(const arguments* arguments, int rank, int* report) {
  int ends[2];
  if (pipe(ends) != 0) return perror("Error: pipe"), -1;
  const pid_t process = fork();
  if (process == 0) {
    close(ends[0]);
    _exit(be_rank(arguments, rank, ends[1]));
  }
  if (process < 0) perror("Error: fork");
  close(ends[1]);
  *report = ends[0];
  return process;
}

static bool end_rank(pid_t process, int report, result* result) {
  const bool reported = read_whole(report, result, sizeof *result);
  close(report);
  int status = 0;
  return process > 0 && await_process(process, &status) && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0 && reported;
}

static bool run(const arguments* arguments) {
  pid_t processes[MOST_RANKS];
  int reports[MOST_RANKS];
  result results[MOST_RANKS] = {0};
  for (int rank = 0; rank < arguments->ranks; ++rank) {
    reports[rank] = -1;
    processes[rank] = start_rank(arguments, rank, &reports[rank]);
  }
  bool ok = true;
  for (int rank = 0; rank < arguments->ranks; ++rank) {
    if (end_rank(processes[rank], reports[rank], &results[rank])) {
      if (results[rank].hash == results[0].hash) continue;
      fprintf(stderr, "Error: rank %d has other outputs than rank 0\n", rank);
    } else {
      fprintf(stderr, "Error: rank %d failed\n", rank);
    }
    ok = false;
  }
  if (!ok) return false;
  printf("%d ranks, one request at a time: %.3f ms each\n", arguments->ranks, results[0].one_ms);
  printf("%d ranks, two in flight:         %.3f ms each\n", arguments->ranks, results[0].two_ms);
  printf("outputs of all ranks have the hash %016lx\n", results[0].hash);
  return true;
}

int main(int argc, char** argv) {
  arguments arguments;
  const int end = parse(argc, argv, &arguments);
  if (end != 0) return end_with_usage(help, end);
  if (!choose_place()) return 1;
  return finish_output(run(&arguments) ? 0 : 1);
}
