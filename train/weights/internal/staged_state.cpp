#include "train/weights/internal/staged_state.hpp"

#include <type_traits>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/finite.hpp"
#include "train/files/file_descriptor.hpp"
#include "train/weights/internal/differences.hpp"
#include "train/weights/internal/visit_state.hpp"

namespace weft {
namespace {

template <class Value>
const char* type_of() {
  if (std::is_same_v<Value, std::string>) return "string";
  if (std::is_same_v<Value, std::int64_t>) return "int64";
  return std::is_same_v<Value, Tensor<float>> ? "float32" : "float64";
}

}  // namespace

template <class T>
StagedState<T>::StagedState(const Hdf5File& file, const std::string& group, PathsByName datasets,
                            Stateful<T>& object)
    : location_(quoted(file.path()) + ' ' + group), object_(object) {
  Differences differences;
  visit_state(object, [&]<class Value>(const std::string& name, const Value& value) {
    constexpr bool is_tensor = std::is_same_v<Value, Tensor<T>>;
    values_.emplace_back(Value());
    Shape shape;
    if constexpr (is_tensor) shape = value.shape();
    const auto entry = datasets.extract(name);
    if (entry.empty()) return differences.missing.push_back(concatenate_text(name, ' ', shape));
    const Hdf5Dataset dataset = file.dataset(entry.mapped());
    const std::string type = dataset.type();
    const Shape found = dataset.shape();
    differences.check_type(name, type_of<Value>(), type);
    differences.check_shape(name, shape, found);
    if (type != type_of<Value>() || found != shape) return;
    if constexpr (is_tensor) {
      values_.back() = dataset.tensor<T>(shape);
      check_finite(dataset.location(), std::get<Value>(values_.back()));
    } else {
      values_.back() = dataset.value<Value>();
    }
  });
  for (const auto& [name, path] : datasets) differences.unexpected.push_back(name);
  if (!differences.empty())
    throw FileError(concatenate_text(
        location_,
        ": expected the names, shapes and types of the object to load, got different ones",
        differences));
}

template <class T>
void StagedState<T>::exchange() {
  auto next = values_.begin();
  visit_state(object_, [&]<class Value>(const std::string& name, Value& value) {
    Value* const read = next == values_.end() ? nullptr : std::get_if<Value>(&*next++);
    if (!read)
      fail<ValueError>(concatenate_text("state: ", name),
                       "what was named before, in the same order", "something else");
    if constexpr (std::is_same_v<Value, Tensor<T>>)
      if (value.shape() != read->shape())
        fail<ValueError>(concatenate_text("state: tensor ", name), read->shape(), value.shape());
    std::swap(value, *read);
  });
  if (next != values_.end()) fail<ValueError>("state", "all that was named before", "less");
}

template <class T>
void StagedState<T>::check() const {
  try {
    object_.check_state();
  } catch (const ValueError& error) {
    throw ValueError(concatenate_text(location_, ": ", error.what()));
  }
}

template class StagedState<float>;
template class StagedState<double>;

}  // namespace weft
