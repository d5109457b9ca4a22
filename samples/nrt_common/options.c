#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int next_option(int argc, char** argv, const char* letters) {
  static const struct option long_options[] = {{"help", no_argument, NULL, 'h'}, {0}};
  return getopt_long(argc, argv, letters, long_options, NULL);
}

bool parse_model(int argc, char** argv, const char** model) {
  if (optind + 1 == argc) {
    *model = argv[optind];
    return true;
  }
  if (optind == argc)
    fprintf(stderr, "Error: MODEL.rai is missing\n");
  else
    fprintf(stderr, "Error: more than one model: \"%s\"\n", argv[optind + 1]);
  return false;
}

bool parse_count(const char* text, char option, long* count) {
  char* end = NULL;
  *count = strtol(text, &end, 10);
  if (*text != '\0' && *end == '\0' && *count >= 1 && *count <= 1000000) return true;
  fprintf(stderr, "Error: -%c is \"%s\": it takes a number from 1 to 1000000\n", option, text);
  return false;
}

int end_with_usage(const char* usage, int option) {
  const bool asked_for = option == 'h';
  fputs(usage, asked_for ? stdout : stderr);
  return finish_output(asked_for ? 0 : 2);
}

int finish_output(int exit_code) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return exit_code;
  fprintf(stderr, "Error: cannot write to standard output\n");
  return exit_code == 0 ? 1 : exit_code;
}

double milliseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
