#include "train/weights/internal/staged_state.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/finite.hpp"
#include "train/files/file_descriptor.hpp"
#include "train/weights/internal/dataset_names.hpp"
#include "train/weights/internal/differences.hpp"

namespace weft {

template <class T>
class StagedState<T>::Reader final : public State<T> {
 public:
  Reader(const Hdf5File& file, const std::string& group, std::vector<Value>& values)
      : file_(file), values_(values), unread_(datasets_by_name(file, group)) {}

  void tensor(const std::string& name, Tensor<T>& value) override {
    const auto dataset =
        find(name, std::is_same_v<T, float> ? "float32" : "float64", value.shape());
    values_.emplace_back(dataset ? dataset->template tensor<T>(value.shape()) : Tensor<T>());
    if (dataset)
      check_finite(quoted(file_.path()) + ' ' + dataset->path(),
                   std::get<Tensor<T>>(values_.back()));
  }
  void integer(const std::string& name, std::int64_t& value) override {
    read(name, "int64", value);
  }
  void number(const std::string& name, double& value) override { read(name, "float64", value); }
  void text(const std::string& name, std::string& value) override { read(name, "string", value); }

  // Includes the datasets of the file that were not requested.
  Differences differences() const {
    Differences all = differences_;
    for (const auto& [name, path] : unread_) all.unexpected.push_back(name);
    return all;
  }

 private:
  template <class Scalar>
  void read(const std::string& name, const char* type, const Scalar&) {
    const auto dataset = find(name, type, {});
    values_.emplace_back(dataset ? dataset->template value<Scalar>() : Scalar());
  }

  // The dataset of a name; none if it is missing or differs, which is recorded.
  std::optional<Hdf5Dataset> find(const std::string& name, const char* type, const Shape& shape) {
    const auto entry = unread_.extract(name);
    if (entry.empty()) {
      differences_.missing.push_back(concatenate_text(name, ' ', shape));
      return std::nullopt;
    }
    Hdf5Dataset dataset = file_.dataset(entry.mapped());
    const std::string found_type = dataset.type();
    const Shape found_shape = dataset.shape();
    differences_.check_type(name, type, found_type);
    differences_.check_shape(name, shape, found_shape);
    if (found_type != type || found_shape != shape) return std::nullopt;
    return dataset;
  }

  const Hdf5File& file_;
  std::vector<Value>& values_;
  std::map<std::string, std::string> unread_;  // paths by name
  Differences differences_;
};

template <class T>
class StagedState<T>::Exchanger final : public State<T> {
 public:
  explicit Exchanger(std::vector<Value>& values) : next_(values.begin()), end_(values.end()) {}

  void tensor(const std::string& name, Tensor<T>& value) override {
    Tensor<T>& read = next<Tensor<T>>(name);
    if (value.shape() != read.shape())
      fail<ValueError>(concatenate_text("state: tensor ", name), read.shape(), value.shape());
    std::swap(value, read);
  }
  void integer(const std::string& name, std::int64_t& value) override { exchange(name, value); }
  void number(const std::string& name, double& value) override { exchange(name, value); }
  void text(const std::string& name, std::string& value) override { exchange(name, value); }

  void check_end() const {
    if (next_ != end_) fail<ValueError>("state", "all that was named before", "less");
  }

 private:
  template <class Scalar>
  void exchange(const std::string& name, Scalar& value) {
    std::swap(value, next<Scalar>(name));
  }
  template <class Kind>
  Kind& next(const std::string& name) {
    Kind* value = next_ == end_ ? nullptr : std::get_if<Kind>(&*next_);
    if (!value)
      fail<ValueError>(concatenate_text("state: ", name),
                       "what was named before, in the same order", "something else");
    ++next_;
    return *value;
  }

  typename std::vector<Value>::iterator next_, end_;
};

template <class T>
StagedState<T>::StagedState(const Hdf5File& file, const std::string& group, Stateful<T>& object)
    : location_(quoted(file.path()) + ' ' + group), object_(object) {
  Reader reader(file, group, values_);
  object.state(reader);
  if (const Differences differences = reader.differences(); !differences.empty())
    throw FileError(concatenate_text(
        location_,
        ": expected the names, shapes and types of the object to load, got different ones",
        differences));
}

template <class T>
void StagedState<T>::exchange() {
  Exchanger exchanger(values_);
  object_.state(exchanger);
  exchanger.check_end();
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
