#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

bool parse_count(const char* text, char option, long* count) {
  char* end = NULL;
  *count = strtol(text, &end, 10);
  if (*text != '\0' && *end == '\0' && *count >= 1 && *count <= 1000000) return true;
  fprintf(stderr, "Error: -%c is \"%s\": it takes a number from 1 to 1000000\n", option, text);
  return false;
}

double milliseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
