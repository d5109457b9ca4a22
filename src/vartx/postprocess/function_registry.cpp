#include "vartx/postprocess/function_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "base/cancellation.h"
#include "base/process/forked_child.h"
#include "base/process/plugin.h"

namespace vart {
namespace {

using Maker = PostProcessRegistry::Maker;

struct Makers {
  std::map<std::string, Maker> by_name;
  std::map<PostProcessType, Maker> by_type;
};

struct Registry {
  std::mutex mutex;
  Makers makers;
};

Registry& registry() {
  // Never destroyed, since a program may make a PostProcess while it exits.
  static Registry* const made = new Registry;
  return *made;
}

// The functions of the plugin that this thread is loading; null while it loads none.
thread_local Makers* of_plugin = nullptr;

// Keeps what this thread registers apart from the registry: a plugin registers its functions before
// its version is known.
class RegistrationsOfPlugin {
 public:
  RegistrationsOfPlugin() : around_(std::exchange(of_plugin, &made_)) {}
  ~RegistrationsOfPlugin() { of_plugin = around_; }
  RegistrationsOfPlugin(const RegistrationsOfPlugin&) = delete;
  RegistrationsOfPlugin& operator=(const RegistrationsOfPlugin&) = delete;

  // Adds them to the registry, where they replace others.
  void accept() {
    const std::lock_guard lock(registry().mutex);
    Makers& all = registry().makers;
    for (auto& [name, maker] : made_.by_name) all.by_name[name] = std::move(maker);
    for (auto& [type, maker] : made_.by_type) all.by_type[type] = std::move(maker);
  }

 private:
  Makers made_;
  // The functions of the plugin whose entry function loads this one; null if there is none.
  Makers* const around_;
};

// Calls `change` with the makers to which this thread adds.
template <class Change>
void change_makers(Change&& change) {
  if (of_plugin != nullptr) return change(*of_plugin);
  const std::lock_guard lock(registry().mutex);
  change(registry().makers);
}

// Returns a copy, which is called without the lock: a maker may register functions itself.
template <class Key>
Maker find(const std::map<Key, Maker>& makers, const Key& key) {
  const std::lock_guard lock(registry().mutex);
  const auto found = makers.find(key);
  return found == makers.end() ? Maker() : found->second;
}

void check_name(const std::string& name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  };
  if (name.empty() || !std::ranges::all_of(name, is_allowed))
    throw std::invalid_argument(fmt::format(
        "\"{}\" is no name of a function: it needs letters, digits, \"-\" and \"_\" only", name));
}

void check_maker(const Maker& maker) {
  if (!maker) throw std::invalid_argument("PostProcessRegistry: the maker is empty");
}

// Loads the plugin, which registers its functions. Those of a plugin that cannot be used are not
// added.
void load_plugin(const std::string& name) {
  if (millrace::is_forked_child()) throw std::runtime_error(millrace::forked_status().message());
  const std::filesystem::path path = millrace::plugin_path("function-" + name);
  const millrace::CancellationOff whole;
  RegistrationsOfPlugin registrations;
  const auto entry = millrace::plugin_function(path, "millrace_postprocess_plugin");
  if (entry.status().code() == millrace::StatusCode::kNotFound)
    throw std::invalid_argument(fmt::format("\"function\": \"{}\" is not registered, and {}", name,
                                            entry.status().message()));
  if (!entry.ok())
    throw std::runtime_error(fmt::format("{} {}", path.string(), entry.status().message()));
  const unsigned version = reinterpret_cast<unsigned (*)()>(*entry)();
  if (version != PostProcessRegistry::kVersion)
    throw std::runtime_error(
        fmt::format("{} was built for version {} of the functions, but this is version {}",
                    path.string(), version, PostProcessRegistry::kVersion));
  registrations.accept();
}

Maker find_or_load(const std::string& name) {
  check_name(name);
  if (Maker registered = find(registry().makers.by_name, name)) return registered;
  load_plugin(name);
  Maker loaded = find(registry().makers.by_name, name);
  if (!loaded)
    throw std::runtime_error(
        fmt::format("the plugin of the function \"{}\" has not registered this name", name));
  return loaded;
}

}  // namespace

PostProcessFunctionBase::~PostProcessFunctionBase() = default;

void PostProcessFunctionBase::set_config(const std::string&, const std::vector<TensorInfo>&,
                                         uint32_t) {}

void PostProcessRegistry::add(const std::string& name, Maker maker) {
  check_name(name);
  check_maker(maker);
  change_makers([&](Makers& makers) { makers.by_name[name] = std::move(maker); });
}

void PostProcessRegistry::add(PostProcessType type, Maker maker) {
  check_maker(maker);
  change_makers([&](Makers& makers) { makers.by_type[type] = std::move(maker); });
}

}  // namespace vart

namespace millrace::vartx {

std::shared_ptr<::vart::PostProcessFunctionBase> make_registered_function(
    const std::string& name, ::vart::PostProcessType type) {
  const ::vart::PostProcessRegistry::Maker maker =
      name.empty() ? ::vart::find(::vart::registry().makers.by_type, type)
                   : ::vart::find_or_load(name);
  if (!maker) return nullptr;
  std::shared_ptr<::vart::PostProcessFunctionBase> function = maker();
  if (function == nullptr)
    throw std::runtime_error("PostProcess: the maker of a registered function returned null");
  return function;
}

}  // namespace millrace::vartx
