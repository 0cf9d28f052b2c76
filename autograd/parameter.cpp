#include "weft/autograd/parameter.hpp"

namespace weft {

template class Parameter<float>;
template class Parameter<double>;

}  // namespace weft
