// The right classes of labelled data, from the forms in which people have them. Thread-safe.
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
  ClassNames names;             // none where no file lists them
};

// Reads `file`, which is
//   - a .npy file of integers, one for each sample in order;
//   - a text file whose rows name a file and its class, with a comma, tab, semicolon or blank
//     between them: the file by its path, its path inside the folder of the data, or its name where
//     only one has it; the class as ClassNames::find() takes it, by the list in `classes_file`
//     (empty: numbers only). Rows about other files are left out;
//   - a text file with the name of a class in each line, where no row names a file: then the
//     folders that the samples are in say their classes, the innermost that does.
// kNotFound or kInvalidArgument name the sample or the row that has no class, or several.
Result<Labels> read_labels(const DataSet& data, const std::string& file,
                           const std::string& classes_file);

}  // namespace millrace::cli
