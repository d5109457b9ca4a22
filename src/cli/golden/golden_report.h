// Prints the report of `millrace golden`, as text or JSON. One thread.
#pragma once

#include <string>
#include <vector>

#include "cli/golden/golden_compare.h"
#include "cli/golden/golden_files.h"

namespace millrace::cli {

struct ComparedFile {
  DumpedFile file;
  std::string tensor;
  Comparison comparison;
};

void print_golden_text(const std::vector<ComparedFile>& files, double tolerance_steps);
void print_golden_json(const std::vector<ComparedFile>& files, double tolerance_steps);

}  // namespace millrace::cli
