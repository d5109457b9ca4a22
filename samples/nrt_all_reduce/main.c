// nrt_all_reduce: several processes add up their tensors.
//
// With --ranks the program starts a process for each rank, before anything has started the runtime;
// without it it is one rank itself, the one that RANK and WORLD_SIZE say, as a launcher sets them.
//
//   nrt_all_reduce --ranks 4
#include <arpa/inet.h>
#include <getopt.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"
#include "processes.h"
#include "rank.h"

enum { MOST_RANKS = 64 };

static const char help[] =
    "Usage: nrt_all_reduce [--ranks RANKS] [-n TIMES] [-c NUMBERS]\n"
    "  --ranks RANKS  starts so many ranks on this host, up to 64\n"
    "  -n TIMES       how often they sum up (20)\n"
    "  -c NUMBERS     in each tensor (1024)\n"
    "  -h, --help     shows this\n"
    "Without --ranks: the one rank that RANK and WORLD_SIZE name, or the only one.\n";

// Has the ranks meet at a free port, unless the environment says where. The socket that keeps the
// port ours stays open until the program ends.
static bool choose_place(void) {
  if (getenv("NEURON_RT_ROOT_COMM_ID") != NULL) return true;
  const int on = 1, keeper = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof(address);
  if (keeper < 0 || setsockopt(keeper, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      bind(keeper, (struct sockaddr*)&address, size) != 0 ||
      getsockname(keeper, (struct sockaddr*)&address, &size) != 0) {
    perror("a port for the ranks to meet");
    return false;
  }
  char place[32];
  snprintf(place, sizeof(place), "127.0.0.1:%d", ntohs(address.sin_port));
  return setenv("NEURON_RT_ROOT_COMM_ID", place, 1) == 0;
}

// Starts the ranks, and returns whether all of them were successful.
static bool run_processes(rank_task task) {
  if (!choose_place()) return false;
  fflush(stdout);
  bool right = true;
  uint32_t started = 0;
  for (task.rank = 0; task.rank < task.ranks; ++task.rank) {
    const pid_t child = fork();
    if (child == 0) _exit(finish_output(run_rank(&task) ? 0 : 1));
    if (child < 0) {
      perror("fork");
      right = false;
      break;
    }
    ++started;
  }
  for (; started > 0; --started) {
    int status = 0;
    right = await_process(-1, &status) && WIFEXITED(status) && WEXITSTATUS(status) == 0 && right;
  }
  return right;
}

static uint32_t number_of_launcher(const char* variable, uint32_t otherwise) {
  const char* const text = getenv(variable);
  return text == NULL ? otherwise : (uint32_t)strtoul(text, NULL, 10);
}

int main(int argc, char** argv) {
  const struct option names[] = {
      {"ranks", required_argument, NULL, 'r'}, {"help", no_argument, NULL, 'h'}, {0, 0, 0, 0}};
  long ranks = 0, times = 20, numbers = 1024;
  int option;
  while ((option = getopt_long(argc, argv, "r:n:c:h", names, NULL)) != -1) {
    long* const count = option == 'r' ? &ranks : option == 'n' ? &times : &numbers;
    if (option == 'h' || option == '?') return end_with_usage(help, option);
    if (!parse_count(optarg, (char)option, count)) return end_with_usage(help, option);
  }
  if (optind < argc || ranks > MOST_RANKS) return end_with_usage(help, '?');
  rank_task task = {0, (uint32_t)ranks, numbers, times};
  if (ranks > 0) return finish_output(run_processes(task) ? 0 : 1);
  task.rank = number_of_launcher("RANK", 0);
  task.ranks = number_of_launcher("WORLD_SIZE", 1);
  return finish_output(run_rank(&task) ? 0 : 1);
}
