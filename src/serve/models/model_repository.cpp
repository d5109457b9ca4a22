#include "serve/models/model_repository.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <set>
#include <string>
#include <utility>

#include "base/process/thread.h"

namespace millrace::serve {
namespace {

// How often degraded units are tried again, and retired models are looked at.
constexpr std::chrono::milliseconds kPeriod{100};

std::pair<size_t, std::string_view> number_of(const std::shared_ptr<ServedModel>& model) {
  return {model->version().size(), model->version()};
}

// kInvalidArgument if there is a model of the same name and version already.
Status check_new(const ModelRepository::Models& models, const ModelFile& file) {
  const auto same = [&](const auto& other) {
    return other->name() == file.name && other->version() == file.version;
  };
  if (!std::ranges::any_of(models, same)) return {};
  return invalid_argument(fmt::format("{}: there is another model \"{}\" of version {}", file.path,
                                      file.name, file.version));
}

}  // namespace

ModelRepository::ModelRepository(const Options& options, Device& device, Metrics& metrics)
    : options_(options), device_(device), metrics_(metrics) {}

ModelRepository::~ModelRepository() {
  close();
}

Status ModelRepository::start() {
  {
    const std::lock_guard loading(loading_);
    for (const std::string& path : options_.models) MILLRACE_RETURN_IF_ERROR(load_path(path));
  }
  if (models_.empty()) return failed_.front().reason.with_context("no model could be loaded");
  MILLRACE_ASSIGN_OR_RETURN(keeper_, start_thread("millrace-models", [this] { keep(); }));
  return {};
}

Status ModelRepository::load_path(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(FoundModels found, found_in(path));
  for (FailedModel& failed : found.failed) failed_.push_back(std::move(failed));
  for (const ModelFile& file : found.files) {
    MILLRACE_RETURN_IF_ERROR(check_new(models_, file));
    auto model = load_file(file);
    if (model.ok())
      models_.push_back(*std::move(model));
    else if (is_repository(path))
      failed_.push_back({file, model.status()});
    else
      return model.status();
  }
  return {};
}

// The models of a path, under the name that the options state for the only one.
Result<FoundModels> ModelRepository::found_in(const std::string& path) const {
  MILLRACE_ASSIGN_OR_RETURN(FoundModels found, find_models(path));
  if (options_.name.empty()) return found;
  std::set<std::string> names;
  for (const ModelFile& file : found.files) names.insert(file.name);
  for (const FailedModel& failed : found.failed) names.insert(failed.file.name);
  if (options_.models.size() > 1 || names.size() > 1)
    return invalid_argument(
        fmt::format("--name {} is for one model, and there are several", options_.name));
  for (ModelFile& file : found.files) file.name = options_.name;
  for (FailedModel& failed : found.failed) failed.file.name = options_.name;
  return found;
}

Result<std::shared_ptr<ServedModel>> ModelRepository::load_file(const ModelFile& file) {
  return ServedModel::load(file, options_, device_, metrics_, [this] { return is_closed(); });
}

bool ModelRepository::is_closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

ModelRepository::Models ModelRepository::versions_of(std::string_view name) const {
  Models versions;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& model : models_)
      if (model->name() == name) versions.push_back(model);
  }
  std::ranges::sort(versions, {}, number_of);
  return versions;
}

std::shared_ptr<ServedModel> ModelRepository::find(std::string_view name,
                                                   std::string_view version) const {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<ServedModel> found;
  for (const auto& model : models_) {
    if (model->name() != name) continue;
    if (!version.empty() && model->version() != version) continue;
    if (!found || number_of(found) < number_of(model)) found = model;
  }
  return found;
}

ModelRepository::Models ModelRepository::all() const {
  const std::lock_guard lock(mutex_);
  return models_;
}

std::vector<FailedModel> ModelRepository::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

bool ModelRepository::ready() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(models_, [](const auto& model) { return model->ready(); });
}

// A path that cannot be read, or has no model any more, matters only if the model is in no other.
Result<FoundModels> ModelRepository::files_of(std::string_view name) const {
  FoundModels own;
  Status unread;
  for (const std::string& path : options_.models) {
    Result<FoundModels> found = found_in(path);
    if (!found.ok()) {
      if (unread.ok()) unread = found.status();
      continue;
    }
    for (ModelFile& file : found->files)
      if (file.name == name) own.files.push_back(std::move(file));
    for (FailedModel& failed : found->failed)
      if (failed.file.name == name) own.failed.push_back(std::move(failed));
  }
  if (own.files.empty() && own.failed.empty() && !unread.ok()) return unread;
  if (own.files.empty() && own.failed.empty())
    return Status(StatusCode::kNotFound, fmt::format("there is no model \"{}\"", name));
  return own;
}

Status ModelRepository::load(std::string_view name) {
  const std::lock_guard loading(loading_);
  MILLRACE_ASSIGN_OR_RETURN(const FoundModels found, files_of(name));
  if (!found.failed.empty()) return found.failed.front().reason;
  Models loaded;
  for (const ModelFile& file : found.files) {
    MILLRACE_RETURN_IF_ERROR(check_new(loaded, file));
    MILLRACE_ASSIGN_OR_RETURN(auto model, load_file(file));
    loaded.push_back(std::move(model));
  }
  return replace(name, std::move(loaded));
}

// Requests see either all of the old versions or all of the new ones.
Status ModelRepository::replace(std::string_view name, Models loaded) {
  const std::lock_guard lock(mutex_);
  if (closed_) return {StatusCode::kClosed, "the server is shutting down"};
  models_.reserve(models_.size() + loaded.size());
  retire(name);
  std::erase_if(failed_, [&](const FailedModel& failed) { return failed.file.name == name; });
  for (auto& model : loaded) models_.push_back(std::move(model));
  return {};
}

Status ModelRepository::unload(std::string_view name) {
  const std::lock_guard loading(loading_);
  const Models versions = versions_of(name);
  if (versions.empty())
    return {StatusCode::kNotFound, fmt::format("there is no model \"{}\"", name)};
  const std::lock_guard lock(mutex_);
  for (const auto& model : versions)
    failed_.push_back({{model->name(), model->version(), {}},
                       Status(StatusCode::kClosed, "the model was unloaded")});
  retire(name);
  return {};
}

// Requirement: mutex_ is held.
void ModelRepository::retire(std::string_view name) {
  retired_.reserve(retired_.size() + models_.size());
  const auto own = std::stable_partition(models_.begin(), models_.end(),
                                         [&](const auto& model) { return model->name() != name; });
  std::for_each(own, models_.end(), [](const auto& model) { model->end_waiting(); });
  retired_.insert(retired_.end(), own, models_.end());
  models_.erase(own, models_.end());
}

// A retired model whose only owner is the list cannot be found, so it gets no other owner.
ModelRepository::Models ModelRepository::take_unused() {
  Models unused;
  const auto own = std::partition(retired_.begin(), retired_.end(),
                                  [](const auto& model) { return model.use_count() > 1; });
  unused.assign(own, retired_.end());
  retired_.erase(own, retired_.end());
  return unused;
}

void ModelRepository::keep() {
  std::unique_lock lock(mutex_);
  while (!closing_.wait_for(lock, kPeriod, [this] { return closed_; })) {
    try {
      const Models serving = models_;
      Models unused = take_unused();
      lock.unlock();
      for (const auto& model : serving) model->recover();
      for (const auto& model : unused) model->close();
      unused.clear();
      lock.lock();
    } catch (const std::bad_alloc&) {
      // There may be memory the next time.
      if (!lock.owns_lock()) lock.lock();
    }
  }
}

void ModelRepository::end_waiting() {
  for (const auto& model : all()) model->end_waiting();
}

void ModelRepository::close() {
  Models models;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    models = models_;
    models.insert(models.end(), retired_.begin(), retired_.end());
  }
  closing_.notify_all();
  if (keeper_.joinable()) keeper_.join();
  for (const auto& model : models) model->close();
}

}  // namespace millrace::serve
