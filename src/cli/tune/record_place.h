// Chooses the path of the record of kernel times that `millrace tune` and `millrace compile --tune`
// write for a model. Thread-safe.
#pragma once

#include <string>

namespace millrace::cli {

// Returns the model's path with ".tuning" appended. If the model is a directory, given with a slash
// at its end or as ".", the record is beside the directory, not in it. The model need not exist
// yet.
std::string record_beside(const std::string& model);

}  // namespace millrace::cli
