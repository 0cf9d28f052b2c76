#include "weft/train/weights/state.hpp"

namespace weft {

template class State<float>;
template class State<double>;
template class Stateful<float>;
template class Stateful<double>;

}  // namespace weft
