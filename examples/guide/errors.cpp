// errors PAGE: makes the mistakes described on a page of the guide, and prints weft's messages.
#include <cmath>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>

#include <weft/weft.hpp>

using namespace weft;

namespace {

struct Mistake {
  const char* description;
  std::function<void()> make;
};
using Mistakes = std::vector<Mistake>;

Random random_numbers(1);

Tensor<float> zeros(Shape shape) { return Tensor<float>(shape); }

// A module whose `members` omits `second`.
struct Forgetful : Module<float> {
  Var<float> operator()(const Var<float>& x) const { return second(first(x)); }
  void members(Members<float>& members) const override {
    members.type("Forgetful");
    members("first", first);
  }
  Linear<float> first{{1, 1}, random_numbers}, second{{1, 1, false}, random_numbers};
};

struct Batch {
  float number;
};
class Batches : public DataSource<Batch> {
 public:
  Index num_batches() const override { return 1; }
  Batch batch(std::int64_t, Index) override { return {1.0f}; }
};

// Trains one step on two points, with a loss multiplied by `factor`.
template <class Model>
void train(Model& model, const TrainerOptions& options, float factor = 1.0f) {
  SGD optimizer(model, {.lr = 0.1});
  TensorBatches<float> points(zeros({2, 1}), zeros({2, 1}));
  Trainer(
      model, optimizer, points,
      [&](Tape<float>& tape, const TensorBatch<float>& batch) {
        return factor * mse_loss(model(tape.constant(batch.inputs)), tape.constant(batch.targets));
      },
      options)
      .run();
}

Mistakes autograd() {
  return {{"a product of matrices whose sizes do not match",
           [] {
             Tape tape;
             matmul(tape.constant(zeros({2, 3})), tape.constant(zeros({2, 3})));
           }},
          {"backward of a result with several elements",
           [] {
             Tape tape;
             tape.backward(tape.variable(zeros({2})));
           }},
          {"backward of a result that depends on no parameter",
           [] {
             Tape tape;
             tape.backward(sum(tape.constant(zeros({2}))));
           }},
          {"a variable of an earlier pass",
           [] {
             Tape tape;
             const Var x = tape.variable(zeros({1}));
             tape.backward(x);
             exp(x);
           }},
          {"variables of two tapes", [] {
             Tape one, two;
             one.constant(zeros({1})) + two.constant(zeros({1}));
           }}};
}

Mistakes masks() {
  static const SelfAttention attention({.num_hiddens = 8, .num_heads = 2}, random_numbers);
  const auto attend = [](const Shape& shape, const Mask& mask) {
    Tape tape = Tape<>::inference();
    attention(tape.constant(zeros(shape)), mask);
  };
  return {{"vectors of the wrong size",
           [=] {
             attend({1, 4, 6}, {});
           }},
          {"a length above the number of keys",
           [=] {
             attend({1, 4, 8}, ValidLens{5});
           }},
          {"one length for two sequences",
           [=] {
             attend({2, 4, 8}, ValidLens{3});
           }},
          {"a mask of the wrong shape", [=] {
             attend({2, 4, 8}, {.allowed = Tensor<bool>({3, 4})});
           }}};
}

Mistakes models() {
  return {{"a layer that members omits",
           [] {
             Forgetful model;
             train(model, {.parts = 2});
           }},
          {"a number of heads that does not divide the width",
           [] { SelfAttention<float>({.num_hiddens = 8, .num_heads = 3}, random_numbers); }},
          {"a missing option", [] { Linear<float>({.in_features = 8}, random_numbers); }},
          {"freezing a layer that does not exist", [] {
             Linear layer({8, 8}, random_numbers);
             freeze(layer, "head");
           }}};
}

Mistakes data() {
  return {{"a label outside the classes",
           [] {
             Tape tape;
             cross_entropy(tape.constant(zeros({2, 3})), Tokens({2}, {0, 3}));
           }},
          {"fewer rows than a window",
           [] {
             WindowBatches<float>(zeros({10, 1}), {.length = 40});
           }},
          {"a character outside the vocabulary",
           [] { Vocabulary::of_characters("weft").encode_text("warp"); }},
          {"splitting batches without part_of", [] {
             Linear model({1, 1}, random_numbers);
             SGD optimizer(model, {.lr = 0.1});
             Batches batches;
             Trainer(model, optimizer, batches,
                     [&](Tape<float>& tape, const Batch& batch) {
                       return sum(model(tape.constant(Tensor<float>({1, 1}, {batch.number}))));
                     },
                     {.parts = 2});
           }}};
}

Mistakes training() {
  static Linear model({1, 1}, random_numbers);
  return {
      {"a folder with checkpoints",
       [] {
         train(model, {.folder = "checkpoints"});
         train(model, {.folder = "checkpoints"});
       }},
      {"resuming with a different seed",
       [] { train(model, {.epochs = 2, .seed = 2, .folder = "checkpoints", .resume = true}); }},
      {"resuming with a different model",
       [] {
         Linear other({1, 1, false}, random_numbers);
         train(other, {.folder = "checkpoints", .resume = true});
       }},
      {"a plateau without validation", [] { train(model, {.plateau = Plateau{.patience = 2}}); }},
      {"a loss that is NaN", [] { train(model, {}, std::nanf("")); }}};
}

Mistakes recipes() {
  static Sequential model{Linear({4, 8}, random_numbers), Linear({8, 2}, random_numbers)};
  return {
      {"Muon for a model without a list of layers",
       [] {
         Linear layer({4, 8}, random_numbers);
         Muon optimizer(layer);
       }},
      {"a filter that selects no matrix", [] { Muon(model, {.matrices = below("encoder")}); }},
      {"a bias among the matrices", [] { Muon(model, {.matrices = matching(".*bias")}); }},
      {"a decay and a warmup that are longer than training", [] {
         warmup_stable_decay_schedule({.warmup_steps = 10, .decay_steps = 100, .total_steps = 100});
       }}};
}

Mistakes weights() {
  static Linear model({4, 8}, random_numbers);
  return {{"a file without weights",
           [] {
             std::ofstream("weights.h5") << "no weights";
             load_weights("weights.h5", model).loaded.clear();
           }},
          {"a different shape",
           [] {
             save_weights("weights.h5", Linear({4, 9}, random_numbers));
             load_weights("weights.h5", model).loaded.clear();
           }},
          {"names that the layout does not have",
           [] { save_weights("weights.h5", model, {.layout = Layout::gpt2}); }}};
}

Mistakes generation() {
  static const Gpt model(
      {.vocabulary_size = 8, .max_len = 16, .num_hiddens = 8, .num_heads = 2, .num_blocks = 1},
      random_numbers);
  return {{"an empty prompt", [] { generate(model, TokenIds{}); }},
          {"a token outside the vocabulary", [] { generate(model, TokenIds{9}); }},
          {"a context longer than the positions",
           [] { generate(model, TokenIds{1}, {.max_context = 32}); }},
          {"a cache on a recording tape", [] {
             Tape tape;
             KeyValueCache<float> cache = model.make_cache(1);
             model.extend(tape, Tokens({1, 1}), cache);
           }}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, Mistakes (*)()> pages = {
      {"autograd", autograd},     {"masks", masks},
      {"models", models},         {"data", data},
      {"training", training},     {"weights", weights},
      {"generation", generation}, {"recipes", recipes}};
  const auto page = pages.find(argc > 1 ? argv[1] : "");
  if (page == pages.end()) {
    std::cerr << "errors: expected the name of a page";
    for (const auto& [name, mistakes] : pages) std::cerr << ' ' << name;
    std::cerr << '\n';
    return 2;
  }
  for (const auto& [description, make] : page->second()) try {
      make();
      std::cout << description << ": no error\n";
    } catch (const Error& error) {
      std::cout << description << "\n  " << error.what() << '\n';
    }
}
