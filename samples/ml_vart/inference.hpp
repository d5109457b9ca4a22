// Runs the model for ml_vart: rows of the input files, batch by batch, through execute, and
// outputs into files.
#pragma once

#include <stdexcept>

#include "arguments.hpp"
#include "config.hpp"

// The runner could not allocate the tensors; the program ends differently then.
struct AllocationFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws AllocationFailure, or another std::exception.
void run_inference(const Config& config, const Arguments& arguments);
