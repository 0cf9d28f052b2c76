#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

// A PyTorch program's model with the names trunk.layer0.…, trunk.layer1.… and head.….
struct Theirs : Module<float> {
  explicit Theirs(Random& random)
      : first({4, 8}, random), second({8, 8}, random), head({8, 2}, random) {}
  void members(Members<float>& members) const override {
    members.type("Theirs");
    members("trunk.layer0", first);
    members("trunk.layer1", second);
    members("head", head);
  }
  Linear<float> first, second, head;
};

// The same layers with different names and a new head.
struct Ours : Module<float> {
  explicit Ours(Random& random)
      : blocks{Linear({4, 8}, random), Linear({8, 8}, random)}, output({8, 3}, random) {}
  void members(Members<float>& members) const override {
    members.type("Ours");
    members("blocks", blocks);
    members("output", output);
  }
  std::vector<Linear<float>> blocks;
  Linear<float> output;
};

int main() {
  Random random(1);
  save_weights("theirs.safetensors", Theirs(random));

  Ours model(random);
  try {
    const LoadWeightsReport report = load_weights("theirs.safetensors", model);
  } catch (const FileError& error) {
    std::cout << error.what() << "\n\n";
  }
  const LoadWeightsReport report = load_weights("theirs.safetensors", model,
                                                {.ignore_unexpected = {"head\\..*"},
                                                 .rename = {{"trunk\\.layer(\\d+)", "blocks.$1"}},
                                                 .except = {"output\\..*"}});
  std::cout << report;
  save_weights("ours.h5", model, {.layout = Layout::pytorch, .storage = StorageType::float16});
}
