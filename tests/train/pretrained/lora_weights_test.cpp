#include <nlohmann/json.hpp>

#include <weft/autograd/error.hpp>
#include <weft/autograd/random.hpp>
#include <weft/layers/linear.hpp>
#include <weft/layers/lora.hpp>
#include <weft/train/pretrained/lora_weights.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

struct TwoLayers final : Module<float> {
  explicit TwoLayers(std::uint64_t seed) : TwoLayers(Random(seed)) {}
  explicit TwoLayers(Random random)
      : first({.in_features = 3, .out_features = 4}, random),
        second({.in_features = 4, .out_features = 2}, random) {}
  void members(Members<float>& members) const override {
    members.type("TwoLayers");
    members("first", first);
    members("second", second);
  }

  Linear<float> first, second;
};

// A model with adapters of these ranks, whose products are not 0.
TwoLayers adapted(Index first_rank, Index second_rank, double alpha = 2.0,
                  double first_alpha = 2.0) {
  TwoLayers model(1);
  Random random(2);
  add_lora(model, {.rank = first_rank, .alpha = first_alpha}, below("first"), random);
  add_lora(model, {.rank = second_rank, .alpha = alpha}, below("second"), random);
  for (const auto& [name, parameter] : named_parameters(model))
    if (name.find("lora_B") != name.npos)
      parameter->set_value(random.normal_tensor<float>(parameter->shape()));
  return model;
}

std::vector<float> outputs(const TwoLayers& model) {
  Tape<float> tape = Tape<float>::inference();
  const Tensor<float> y =
      model.second(model.first(tape.constant(Tensor<float>::full({1, 3}, 0.5f)))).value();
  return {y.begin(), y.end()};
}

}  // namespace

TEST_CASE("adapters: a loaded model computes the same, and learns the adapters only", "[train]") {
  const TemporaryFolder folder;
  const TwoLayers saved = adapted(2, 2);
  save_lora(folder.path(), saved);
  TwoLayers loaded(1);
  CHECK(outputs(loaded) != outputs(saved));
  CHECK(load_lora(folder.path(), loaded) == 2);
  CHECK(outputs(loaded) == outputs(saved));
  for (const auto& [name, parameter] : named_parameters(loaded)) {
    INFO(name);
    CHECK(parameter->requires_grad() == (name.find("lora_") != name.npos));
  }
}

TEST_CASE("adapters: a layer that has one gets no other", "[train]") {
  const TemporaryFolder folder;
  save_lora(folder.path(), adapted(2, 2));
  TwoLayers model = adapted(1, 1);
  const std::vector<float> before = outputs(model);
  CHECK(message_of<ValueError>([&] {
          load_lora(folder.path(), model);
        }).ends_with("expected a layer without an adapter, got a layer with one"));
  CHECK(outputs(model) == before);
}

TEST_CASE("adapters: layers of other ranks and alphas are saved as patterns", "[train]") {
  for (const auto& [rank, alpha] : {std::pair(Index{1}, 2.0), {2, 3.0}, {3, 5.0}}) {
    const TemporaryFolder folder;
    const TwoLayers saved = adapted(2, rank, alpha);
    save_lora(folder.path(), saved);
    TwoLayers loaded(1);
    CHECK(load_lora(folder.path(), loaded) == 2);
    CHECK(outputs(loaded) == outputs(saved));
  }
  const TemporaryFolder folder;
  CHECK_THROWS_AS(save_lora(folder.path(), TwoLayers(1)), ValueError);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("adapters: a target layer that has none in one block only is named", "[train]") {
  struct Gates final : Module<float> {
    void members(Members<float>& members) const override {
      members.type("Gates");
      members("w1", layers.first);
      members("w2", layers.second);
    }
    TwoLayers layers{1};
  };
  struct Blocks final : Module<float> {
    void members(Members<float>& members) const override {
      members.type("Blocks");
      members("blocks", blocks);
      members("last", last);
    }
    std::vector<Gates> blocks{2};
    Gates last;
  };
  const TemporaryFolder folder;
  Blocks saved;
  Random random(2);
  add_lora(saved, {.rank = 1}, below("blocks.0.w1"), random);
  save_lora(folder.path(), saved);
  Blocks loaded;
  const std::string message = message_of<FileError>([&] { load_lora(folder.path(), loaded); });
  CHECK(message.ends_with(
      "expected an adapter for each of target_modules, got none for blocks.1.w1"));
  CHECK_FALSE(loaded.blocks[0].layers.first.map);
  // As PEFT has it of an adapter for some blocks.
  const std::filesystem::path path = folder / "adapter_config.json";
  std::string config = bytes_of(path);
  // Target layers of other names, and of no block, need none.
  config.replace(config.find("\"w1\""), 4, R"("w1", "w2")");
  config.insert(config.find('{') + 1, R"("layers_pattern": "blocks", "layers_to_transform": [0],)");
  write_bytes(path, config);
  CHECK(load_lora(folder.path(), loaded) == 1);
}

namespace {

// Changes adapter_config.json; null removes an entry.
void change_config(const std::filesystem::path& folder, const nlohmann::json& changes) {
  const std::filesystem::path path = folder / "adapter_config.json";
  auto config = nlohmann::json::parse(bytes_of(path));
  for (const auto& [name, value] : changes.items())
    if (value.is_null())
      config.erase(name);
    else
      config[name] = value;
  write_bytes(path, config.dump());
}

struct Outer final : Module<float> {
  void members(Members<float>& members) const override {
    members.type("Outer");
    members("block", layers);
    members("embed_out", out);
  }
  TwoLayers layers{1}, out_layers{2};
  Linear<float>& out = out_layers.first;
};

}  // namespace

TEST_CASE("adapters: a rank and an alpha that a file does not state are 8", "[train]") {
  const TemporaryFolder folder;
  const TwoLayers saved = adapted(8, 8, 8.0, 8.0);
  save_lora(folder.path(), saved);
  change_config(folder.path(), {{"r", nullptr}, {"lora_alpha", nullptr}});
  TwoLayers loaded(1);
  CHECK(load_lora(folder.path(), loaded) == 2);
  CHECK(outputs(loaded) == outputs(saved));
}

TEST_CASE("adapters: targets and patterns are compared as PEFT compares them", "[train]") {
  const TemporaryFolder folder;
  save_lora(folder.path(), adapted(2, 2));
  TwoLayers model(1);
  change_config(folder.path(), {{"target_modules", {"irst", "second"}}});
  CHECK(message_of<FileError>([&] {
          load_lora(folder.path(), model);
        }).ends_with("expected all layers with adapter weights, got a list without first"));

  Outer outer;
  Random random(2);
  add_lora(outer, {.rank = 1, .alpha = 3.0}, below("block"), random);
  save_lora(folder.path(), outer);
  // The pattern concerns both layers.
  change_config(folder.path(), {{"lora_alpha", 2}, {"alpha_pattern", {{"first|second", 3}}}});
  Outer loaded;
  CHECK(load_lora(folder.path(), loaded) == 2);
  for (const auto& [name, linear] : named_linear_layers(loaded))
    if (const auto* lora = dynamic_cast<const Lora<float>*>(linear->map.get()))
      CHECK(lora->options().alpha == 3.0);

  // All linear layers, except output layers.
  Outer with_output;
  add_lora(
      with_output, {.rank = 1}, [](const std::string&) { return true; }, random);
  save_lora(folder.path(), with_output);
  change_config(folder.path(), {{"target_modules", "all-linear"}});
  Outer refused;
  CHECK(message_of<FileError>([&] {
          load_lora(folder.path(), refused);
        }).ends_with("expected all layers with adapter weights, got a list without embed_out"));
}
