// Descriptions of the server and its models, which answer the protocol's calls without a job, as
// JSON texts. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "serve/models/model_repository.h"
#include "serve/shared_memory/shared_regions.h"

namespace millrace::serve {

std::string describe_server(bool with_shared_memory);
std::string describe_model(const ServedModel& served, const std::vector<std::string>& versions);
// Lists the models, with the reason for those that are not served; or only those that are ready.
std::string describe_repository(const ModelRepository& models, bool only_ready);
// By the statistics extension. Times that are not measured are left out.
std::string describe_statistics(const ModelRepository::Models& models);

// By the extension for system shared memory.
std::string describe_regions(const std::vector<std::shared_ptr<const SharedRegion>>& regions);

}  // namespace millrace::serve
