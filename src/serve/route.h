// Route: the call of the protocol that the path of a request stands for. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "serve/models/model_repository.h"

namespace millrace::serve {

struct Route {
  enum class What : uint8_t {
    kNothing,
    kServer,
    kLive,
    kReady,
    kModel,
    kModelReady,
    kInfer,
    kStatistics,
    kIndex,
    kLoad,
    kUnload,
    kMetrics,
    kRegions,
    kRegister,
    kUnregister,
    kNotOffered  // a call of an extension that this server does not have
  };
  What what = What::kNothing;
  std::shared_ptr<ServedModel> model = {};  // null unless the call is for one
  std::vector<std::string> versions = {};   // of that model
  std::string name = {};  // of the model that is loaded or unloaded, or of the region; empty: all
  std::string missing = {};  // with kNothing and kNotOffered: what there is not

  // The only method that the call has.
  std::string_view method() const;
};

// Returns the route of a target, whose query does not matter.
Route route_of(const ModelRepository& models, std::string_view target);

}  // namespace millrace::serve
