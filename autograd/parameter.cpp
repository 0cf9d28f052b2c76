#include "weft/autograd/parameter.hpp"

#include <deque>
#include <mutex>

namespace weft::detail {
namespace {

struct Places {
  std::mutex mutex;
  std::deque<Place> all;
  std::vector<Place*> free;
};

// Not destroyed at the end of the program: parameters with static storage may be destroyed later.
Places& places() {
  static auto* const places = new Places;
  return *places;
}

}  // namespace

Place& Place::take(void* parameter) {
  Places& places = weft::detail::places();
  const std::lock_guard lock(places.mutex);
  if (places.free.empty()) {
    // `give_back` must not allocate.
    places.free.reserve(places.all.size() + 1);
    places.free.push_back(&places.all.emplace_back());
  }
  Place& place = *places.free.back();
  places.free.pop_back();
  place.parameter = parameter;
  return place;
}

void Place::give_back() noexcept {
  Places& places = weft::detail::places();
  const std::lock_guard lock(places.mutex);
  ++number;
  parameter = nullptr;
  places.free.push_back(this);
}

}  // namespace weft::detail
