#include "weft/train/weights/save_weights.hpp"

#include "weft/autograd/error.hpp"
#include "weft/train/weights/checkpoint.hpp"

namespace weft {

template <class T>
void save_weights(const std::filesystem::path& path, Module<T>& model, const SaveWeightsOptions&) {
  save_checkpoint(path, model);
}

template void save_weights(const std::filesystem::path&, Module<float>&, const SaveWeightsOptions&);
template void save_weights(const std::filesystem::path&, Module<double>&,
                           const SaveWeightsOptions&);

}  // namespace weft
