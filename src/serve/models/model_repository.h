// ModelRepository: the models that a server offers, loaded and unloaded while it serves.
//
// Whoever looks a model up shares its ownership, so a model that is replaced or unloaded finishes
// what it has accepted. A thread of the repository destroys it afterwards, and puts degraded units
// back into service. Thread-safe.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/status.h"
#include "millrace/device.hpp"
#include "serve/metrics.h"
#include "serve/models/model_file.h"
#include "serve/models/served_model.h"
#include "serve/options.h"

namespace millrace::serve {

class ModelRepository {
 public:
  using Models = std::vector<std::shared_ptr<ServedModel>>;

  // The objects that are passed by reference must outlive the repository.
  ModelRepository(const Options& options, Device& device, Metrics& metrics);
  ~ModelRepository();  // closes

  // Loads the models of all paths of the options, and starts the thread. A model of a folder that
  // cannot be loaded leaves the others as they are, as long as there is one. kInvalidArgument for
  // two models of one name and version; otherwise errors are those of find_models() and of
  // ServedModel::load(), and kResourceExhausted.
  Status start();

  // Returns a version of a model, by default the latest one; null if there is none.
  std::shared_ptr<ServedModel> find(std::string_view name, std::string_view version = {}) const;
  // Returns all versions of a model, with the latest one last.
  Models versions_of(std::string_view name) const;
  Models all() const;
  // Returns the models that could not be loaded, or were unloaded.
  std::vector<FailedModel> failed() const;
  // Whether every model is ready.
  bool ready() const;

  // Loads all versions of a model from the paths of the options, also those that are new there, and
  // replaces the ones that serve. Takes as long as loading does. If a version cannot be loaded,
  // nothing has changed. kNotFound if no path has a model of that name; otherwise errors are those
  // of start().
  Status load(std::string_view name);
  // From now on the model is not found. kNotFound if there is none.
  Status unload(std::string_view name);

  // From now on no request waits for others to share its job.
  void end_waiting();
  // Closes all models: jobs that have not started are cancelled. Nothing is loaded afterwards, and
  // the warm-up of a model that is being loaded ends with its next job.
  void close();

 private:
  Status load_path(const std::string& path);
  Result<std::shared_ptr<ServedModel>> load_file(const ModelFile& file);
  bool is_closed() const;
  Result<FoundModels> found_in(const std::string& path) const;
  Result<FoundModels> files_of(std::string_view name) const;
  Status replace(std::string_view name, Models loaded);
  void retire(std::string_view name);
  void keep();
  Models take_unused();

  const Options& options_;
  Device& device_;
  Metrics& metrics_;
  std::mutex loading_;  // held while models are loaded
  mutable std::mutex mutex_;
  std::condition_variable closing_;
  Models models_;
  Models retired_;  // not found any more, and perhaps still in use
  std::vector<FailedModel> failed_;
  bool closed_ = false;
  std::thread keeper_;
};

}  // namespace millrace::serve
