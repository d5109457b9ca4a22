#include "base/names.h"

#include <deque>
#include <mutex>
#include <new>
#include <unordered_map>

#include "base/never_destroyed.h"

namespace millrace {
namespace {

constexpr size_t kMostNames = 65'536;

struct Names {
  std::mutex mutex;
  std::deque<std::string> texts{""};  // by id; a deque, so that the views below stay valid
  std::unordered_map<std::string_view, NameId> ids{{texts.front(), 0}};
};

Names& names() {
  // Never destroyed, since threads may emit events while the process exits.
  static NeverDestroyed<Names> made;
  return made.get();
}

}  // namespace

NameId name_id(std::string_view text) noexcept {
  try {
    Names& all = names();
    const std::lock_guard lock(all.mutex);
    if (const auto known = all.ids.find(text); known != all.ids.end()) return known->second;
    if (all.texts.size() > kMostNames) return 0;
    const auto id = static_cast<NameId>(all.texts.size());
    all.texts.emplace_back(text);
    try {
      all.ids.emplace(all.texts.back(), id);
    } catch (const std::bad_alloc&) {
      all.texts.pop_back();
      return 0;
    }
    return id;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

std::string name_with(NameId id) {
  Names& all = names();
  const std::lock_guard lock(all.mutex);
  return id < all.texts.size() ? all.texts[id] : std::string();
}

}  // namespace millrace
