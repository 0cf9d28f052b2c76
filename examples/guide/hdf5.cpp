#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

int main() {
  Random random(1);
  const PositionWiseFeedForward model({.num_hiddens = 4, .ffn_num_hiddens = 6}, random);
  save_weights("model.h5", model);

  const Hdf5File file("model.h5");
  for (const std::string& dataset : file.datasets())
    std::cout << dataset << ' ' << file.dataset(dataset).shape() << '\n';
}
