// OrdinaryUser: what root is not refused, tested as another user.
#pragma once

#include <unistd.h>

namespace weft {

// Drops the privileges of root during its lifetime, if the tests run as root.
class OrdinaryUser {
 public:
  OrdinaryUser() {
    if (::geteuid() == 0) restore_ = ::seteuid(65534) == 0;
  }
  ~OrdinaryUser() {
    if (restore_) static_cast<void>(!::seteuid(0));
  }

 private:
  bool restore_ = false;
};

}  // namespace weft
