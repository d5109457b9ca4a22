// Descriptions of the server and its models, which answer the protocol's calls without a job, as
// JSON texts. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "serve/models/model_repository.h"

namespace millrace::serve {

std::string describe_server();
std::string describe_model(const ServedModel& served, const std::vector<std::string>& versions);
// Lists the models, with the reason for those that are not served.
std::string describe_repository(const ModelRepository& models);
// By the statistics extension. Times that are not measured are left out.
std::string describe_statistics(const ModelRepository::Models& models);

}  // namespace millrace::serve
