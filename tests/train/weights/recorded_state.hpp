// RecordedState: pointers to the state of an object by name, for tests to read and change.
#pragma once

#include <map>
#include <string>

#include <weft/train/weights/state.hpp>

namespace weft {

template <class T>
class RecordedState final : public State<T> {
 public:
  explicit RecordedState(Stateful<T>& object) { object.state(*this); }

  void tensor(const std::string& name, Tensor<T>& value) override { tensors[name] = &value; }
  void integer(const std::string& name, std::int64_t& value) override { integers[name] = &value; }
  void flag(const std::string& name, bool& value) override { flags[name] = &value; }
  void number(const std::string& name, double& value) override { numbers[name] = &value; }
  void text(const std::string& name, std::string& value) override { texts[name] = &value; }
  void list(const std::string& name, Tensor<std::int32_t>& values) override {
    lists[name] = &values;
  }

  std::map<std::string, Tensor<T>*> tensors;
  std::map<std::string, Tensor<std::int32_t>*> lists;
  std::map<std::string, std::int64_t*> integers;
  std::map<std::string, bool*> flags;
  std::map<std::string, double*> numbers;
  std::map<std::string, std::string*> texts;
};

}  // namespace weft
