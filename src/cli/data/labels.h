// Reads the labels (the correct classes) of a data set from the usual kinds of label files.
// Thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/data/class_names.h"
#include "cli/data/data_set.h"

namespace millrace::cli {

struct Labels {
  std::vector<size_t> classes;  // class of each sample, in order
  ClassNames names;             // empty if no file lists them
};

// Reads `file`, which is one of the following:
//   - a .npy file of integers: the class of each sample, in order;
//   - a text file whose rows name a file and its class, separated by a comma, tab, semicolon or
//     blank. The file is given by its path, its path inside the source folder, or its name if that
//     is unique; the class as ClassNames::find() accepts it, by the list in `classes_file` (empty:
//     indices only). Rows about other files are ignored;
//   - a text file, of which no row names a file, with the name of a class in each line. The class
//     of a sample is then that of the innermost folder around it whose name is a class.
// kNotFound or kInvalidArgument name the sample or the row that has no class, or several.
Result<Labels> read_labels(const DataSet& data, const std::string& file,
                           const std::string& classes_file);

}  // namespace millrace::cli
