// FullNames: the base of visitors that need members' full names ("encoder.0.norm.weight").
// Included by definitions only.
#pragma once

#include <string>
#include <utility>

#include "weft/layers/module.hpp"

namespace weft {

template <class T>
class FullNames : public Members<T> {
 public:
  void type(const std::string&, const std::string&) override {}
  void parameter(const std::string&, const Parameter<T>&) override {}
  void child(const std::string& name, const Module<T>& child) override {
    const std::string outer = std::exchange(prefix_, prefix_ + name + ".");
    child.members(*this);
    prefix_ = outer;
  }

 protected:
  // The full name of a member of the visited module.
  std::string full_name(const std::string& name) const { return prefix_ + name; }

 private:
  std::string prefix_;
};

}  // namespace weft
