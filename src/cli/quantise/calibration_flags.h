// The command-line options of `millrace compile --precision int8` and `auto`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/data/picture_flags.h"

namespace millrace::cli {

struct CalibrationFlags {
  std::vector<std::string> data;  // files and folders (DataSet)
  PictureFlags picture;
  size_t samples = 64;                // greatest number of samples, evenly spaced over the data
  std::string method = "percentile";  // quantise::RangeMethod
  std::vector<std::string> keep;      // operators and nodes, by name
  std::string accuracy_target;        // "1%" or "0.01"; empty: none
  bool quantise_outputs = false;
  bool power_of_two_scales = false;
  bool no_equalisation = false;
  bool no_bias_correction = false;
  bool split_sums = false;  // no option: quantise::split_sums(), for --emit-qdq
  std::string report;       // an .html file; empty: none
};

}  // namespace millrace::cli
