// The path of the times that `millrace tune` and `millrace compile --tune` measure for a model.
#pragma once

#include <string>

namespace millrace::cli {

// The model's name and ".tuning": beside the model, also where that is a directory that is given
// with a slash at its end, or as the current one. The model need not exist yet.
std::string record_beside(const std::string& model);

}  // namespace millrace::cli
