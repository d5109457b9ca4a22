// nrt_error_tracker: recovers from a device that fails.
//
// Requests report their failures to an error tracker, the form of the interface in which several
// requests share one tracker for errors. A unit that a failure has degraded stays so until the
// runtime is started anew. So one process watches and never calls the runtime; the one that works
// ends when its unit is degraded, and another one goes on where it was.
//
//   MILLRACE_FAULTS=fail=3 nrt_error_tracker -n 8 model.rai
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"
#include "processes.h"
#include "worker.h"

enum { MOST_IDLE_ATTEMPTS = 3 };

static const char help[] =
    "Usage: nrt_error_tracker [-n ITEMS] MODEL.rai\n"
    "  -n ITEMS    how many items to compute (16)\n"
    "  -h, --help  shows this\n"
    "Exit codes: 0 all items are computed, 65 one fails again and again, 75 the unit is degraded\n"
    "again and again, 2 the command line is wrong, 1 for anything else.\n";

// A worker in a process of its own, forked before anything has started the runtime.
static outcome attempt(const char* model, long items, volatile long* done) {
  fflush(stdout);
  const pid_t worker = fork();
  if (worker == 0) {
    _exit(finish_output((int)work(model, items, done)));
  }
  int status = 0;
  if (worker < 0) {
    perror("fork");
    return CALL_FAILED;
  }
  if (!await_process(worker, &status)) {
    perror("waitpid");
    return CALL_FAILED;
  }
  if (WIFSIGNALED(status)) return UNIT_DEGRADED;
  return (outcome)WEXITSTATUS(status);
}

// A device that fails now and then costs as many attempts as it takes; one that gets nothing done
// is not worth another.
static outcome supervise(const char* model, long items, volatile long* done) {
  int idle = 0;
  for (int number = 1; idle < MOST_IDLE_ATTEMPTS; ++number) {
    const long before = *done;
    printf("attempt %d, from item %ld\n", number, before + 1);
    const outcome result = attempt(model, items, done);
    if (result != UNIT_DEGRADED) return result;
    printf("  the execution unit is degraded after item %ld\n", *done);
    idle = *done > before ? 0 : idle + 1;
  }
  fprintf(stderr, "Error: gave up after %d attempts without progress\n", MOST_IDLE_ATTEMPTS);
  return UNIT_DEGRADED;
}

int main(int argc, char** argv) {
  long items = 16;
  for (int option; (option = next_option(argc, argv, "hn:")) != -1;)
    if (option != 'n' || !parse_count(optarg, 'n', &items)) return end_with_usage(help, option);
  const char* model = NULL;
  if (!parse_model(argc, argv, &model)) return end_with_usage(help, '?');
  volatile long* done =
      mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (done == MAP_FAILED) {
    perror("mmap");
    return CALL_FAILED;
  }
  const outcome result = supervise(model, items, done);
  printf("%ld of %ld items computed\n", *done, items);
  return finish_output((int)result);
}
