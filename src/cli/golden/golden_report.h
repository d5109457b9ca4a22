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

// Returns lines with the differences and the cosine, each with its newline.
std::string figures_of(const Comparison& comparison);
// Returns a line with the first element beyond the tolerances; nothing if there is none.
std::string first_difference_of(const Comparison& comparison);

void print_golden_text(const std::vector<ComparedFile>& files, const Tolerances& tolerances);
void print_golden_json(const std::vector<ComparedFile>& files, const Tolerances& tolerances);

}  // namespace millrace::cli
