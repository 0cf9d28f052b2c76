// Code that a user of PyTorch writes first. A comment shows each line in PyTorch; the line of weft
// is the obvious translation. The tests check that it compiles and what it returns.
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <weft/weft.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

Random random_numbers(1);

// class Net(nn.Module)
struct Net : Module<> {
  Net()
      : hidden({.in_features = 2, .out_features = 8}, random_numbers),
        output({.in_features = 8, .out_features = 2}, random_numbers) {}
  Var<> operator()(const Var<>& x) const { return output(relu(hidden(x))); }
  void members(Members<>& members) const override {
    members.type("Net");
    members("hidden", hidden);
    members("output", output);
  }
  Linear<> hidden, output;
};

// A model whose `members` names nothing.
struct Nameless : Module<> {
  Nameless() : layer({.in_features = 2, .out_features = 2}, random_numbers) {}
  void members(Members<>& members) const override { members.type("Nameless"); }
  Linear<> layer;
};

// class CustomDataset(Dataset): without a fingerprint, num_examples or part_of
struct Example {
  Tensor<float> x;
  Tokens label;
};
struct Examples : DataSource<Example> {
  Index num_batches() const override { return 4; }
  Example batch(std::int64_t, Index i) override {
    const auto bit = static_cast<float>(i % 2);
    return {Tensor<float>({1, 2}, {bit, 1}), Tokens({1}, {static_cast<TokenId>(i % 2)})};
  }
};

template <class X>
std::string printed(const X& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

const Tensor<float> x({2, 3}, {1, 2, 3, 4, 5, 6});

}  // namespace

TEST_CASE("a PyTorch user creates and prints tensors", "[train]") {
  // print(torch.tensor([[1., 2.], [3., 4.]]))
  CHECK(printed(Tensor<float>({2, 2}, {1, 2, 3, 4})) == "tensor([[1., 2.],\n        [3., 4.]])");
  // torch.zeros(2, 3); torch.full((2,), 7.)
  CHECK(Tensor<float>({2, 3})(1, 2) == 0);
  CHECK(Tensor<float>::full({2}, 7)(1) == 7);
  // torch.manual_seed(1); torch.randn(2, 3); torch.rand(2)
  Random random(1);
  CHECK(random.normal_tensor<float>({2, 3}).size() == 6);
  CHECK(random.uniform_tensor<float>({2}, 0, 1)(0) < 1);
  // x.shape; x.numel(); x[1, 2]
  CHECK(printed(x.shape()) == "[2, 3]");
  CHECK(x.size() == 6);
  CHECK(x(1, 2) == 6);
  // x.reshape(3, -1); x.clone()
  CHECK(x.reshaped({3, -1}).shape() == Shape{3, 2});
  CHECK(same(x.clone(), x));
}

TEST_CASE("a PyTorch user computes with tensors", "[train]") {
  // x + 1; 2 * x; x * x; x > 2
  CHECK((x + 1)(0, 0) == 2);
  CHECK((2 * x * x)(1, 2) == 72);
  CHECK((x > 2)(0, 2));
  // x.mean(); x.sum(dim=1); torch.exp(x)
  CHECK(mean(Var(x)).item() == 3.5f);
  CHECK(same(sum(Var(x), {1}).value(), Tensor<float>({2}, {6, 15})));
  CHECK(exp(Var(x)).value()(0, 0) == Approx(std::exp(1.0f)));
  // torch.softmax(x, dim=-1); x @ x.T
  CHECK(softmax(Var(x)).value()(0, 2) == Approx(0.66524f));
  CHECK(matmul(Var(x), transpose(Var(x))).value()(0, 1) == 32);
  // torch.cat([x, x]); torch.stack([x, x]); x.argmax(dim=1); torch.where(x > 2, x, 0)
  CHECK(concatenate(std::vector{Var(x), Var(x)}, 0).shape() == Shape{4, 3});
  CHECK(stack(std::vector{Var(x), Var(x)}, 0).shape() == Shape{2, 2, 3});
  CHECK(argmax(x, 1)(1) == 2);
  CHECK(where(x > 2, x, 0)(0, 0) == 0);
  // torch.topk(x, 2); x.transpose(0, 1); x.unsqueeze(0); x.squeeze(0)
  CHECK(topk(x, 2).values(0, 0) == 3);
  CHECK(transpose(Var(x), 0, 1).shape() == Shape{3, 2});
  CHECK(squeeze(unsqueeze(Var(x), 0), 0).shape() == x.shape());
}

TEST_CASE("a PyTorch user computes gradients", "[train]") {
  // w = torch.ones(2, requires_grad=True); loss = (w * 3).sum(); loss.backward(); w.grad
  Parameter<float> w(Tensor<float>::full({2}, 1));
  Tape tape;
  const Var loss = sum(tape.parameter(w) * 3);
  CHECK(printed(loss) == "tensor(6., op=sum)");
  tape.backward(loss);
  CHECK(printed(w.grad()) == "tensor([3., 3.])");
  // torch.autograd.grad(y, x)
  const Var input = tape.variable(x);
  CHECK(same(tape.gradients(sum(power(input, 2)), {input})[0], 2 * x));
  // with torch.no_grad(): model(x)
  Tape inference = Tape<>::inference();
  auto other = Tape<>::inference();
  CHECK_FALSE(inference.recording());
  CHECK_FALSE(other.training());
  // optim.SGD([w, b], lr=0.1); optimizer.step(); optimizer.zero_grad()
  Parameter<float> b(Tensor<float>({1}));
  b.set_grad(Tensor<float>({1}, {1}));
  SGD optimizer({&w, &b}, {.lr = 0.1});
  optimizer.step();
  optimizer.zero_grad();
  CHECK(w.value()(0) == Approx(0.7));
  CHECK(b.value()(0) == Approx(-0.1));
  CHECK(optimizer.parameters()[1].name == "1");
  // optim.AdamW(parameters, lr=1e-3), and others with a list
  const std::vector<Parameter<float>*> parameters{&w, &b};
  CHECK(AdamW(parameters, {.lr = 1e-3}).parameters().size() == 2);
  CHECK(Adam(parameters).parameters().size() == 2);
  CHECK(RMSprop({&w}).parameters().size() == 1);
  Parameter<float> matrix(Tensor<float>({2, 2}));
  CHECK(Muon({&matrix, &b}).parameters().size() == 2);
}

TEST_CASE("a PyTorch user builds and prints models", "[train]") {
  // print(nn.Linear(2, 8)); model(x)
  const Linear layer({.in_features = 3, .out_features = 8}, random_numbers);
  CHECK(printed(layer) == "Linear(in_features=3, out_features=8, bias=True)");
  CHECK(layer(x).shape() == Shape{2, 8});
  // nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.1), nn.LayerNorm(4))
  const Sequential model{Linear({.in_features = 3, .out_features = 4}, random_numbers),
                         Activate(Activation::relu), Dropout(0.1), LayerNorm({.num_hiddens = 4})};
  CHECK(model(x).shape() == Shape{2, 4});
  // sum(p.numel() for p in model.parameters())
  CHECK(count_parameters(model) == 24);
  // for name, p in model.named_parameters()
  Net net;
  std::string names;
  for (const auto& [name, parameter] : named_parameters(net)) names += name + " ";
  CHECK(names == "hidden.weight hidden.bias output.weight output.bias ");
  // nn.LSTM(3, 8, batch_first=True)(x); nn.MultiheadAttention(3, 1)(x, x, x)
  const Tensor<float> sequence = x.reshaped({1, 2, 3});
  CHECK(LSTM({.input_size = 3, .num_hiddens = 8}, random_numbers)(sequence).states.shape() ==
        Shape{1, 2, 8});
  CHECK(SelfAttention({.num_hiddens = 3, .num_heads = 1}, random_numbers)(sequence).shape() ==
        Shape{1, 2, 3});
  // nn.Conv1d(3, 5, 1)(x)
  CHECK(Conv1d({.in_channels = 3, .out_channels = 5, .kernel_size = 1}, random_numbers)(sequence)
            .shape() == Shape{1, 2, 5});
  // optim.SGD(model without parameters): "optimizer got an empty parameter list"
  Nameless nameless;
  CHECK_THROWS_WITH(SGD(nameless),
                    "SGD: expected at least one parameter, got none (does the model's `members` "
                    "name them?)");
}

TEST_CASE("a PyTorch user writes a training loop", "[train]") {
  Net model;
  AdamW optimizer(model, {.lr = 0.05});
  const Tensor<float> inputs({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1});
  const Tokens targets({4}, {0, 1, 1, 0});
  // for epoch in range(300): loss = F.cross_entropy(model(x), y); loss.backward(); optimizer.step()
  Tape tape({.training = true});
  for (int epoch = 0; epoch < 300; ++epoch) {
    const Var loss = cross_entropy(model(tape.constant(inputs)), targets);
    tape.backward(loss);
    clip_grad_norm(model, 1.0);
    optimizer.step();
  }
  // model.eval(); (model(x).argmax(1) == y).float().mean()
  const Var logits = model(inputs);
  CHECK(accuracy(logits, targets).value > 0.9);
  CHECK(cross_entropy(logits, targets).item() < 0.2f);
  // F.mse_loss(model(x), y) outside of a training pass has no gradient
  CHECK_THROWS_AS(tape.backward(cross_entropy(model(inputs), targets)), Error);
  // torch.save(model.state_dict(), path); model.load_state_dict(torch.load(path))
  const TemporaryFolder folder;
  save_weights(folder / "model.safetensors", model);
  Net copy;
  (void)load_weights(folder / "model.safetensors", copy);
  CHECK(same(copy(inputs).value(), logits.value()));
}

TEST_CASE("a PyTorch user trains with a dataset", "[train]") {
  // DataLoader(TensorDataset(x, y), batch_size=2, shuffle=True)
  Net model;
  TensorBatches loader(Tensor<float>({4, 2}), Tensor<float>({4, 2}), {.batch_size = 2});
  CHECK(loader.num_batches() == 2);
  // trainer = Trainer(model, ...); trainer.train()
  Examples dataset;
  AdamW optimizer(model);
  Trainer trainer(model, optimizer, dataset, [&](Tape<>& tape, const Example& batch) {
    return cross_entropy(model(tape.constant(batch.x)), batch.label);
  });
  CHECK(trainer.run().steps == 4);
}

TEST_CASE("a PyTorch user generates text", "[train]") {
  // model.generate(prompt, max_new_tokens=5, min_new_tokens=5, no_repeat_ngram_size=2)
  const Gpt model({.vocabulary_size = 9, .max_len = 16, .num_hiddens = 8, .num_heads = 2},
                  random_numbers);
  TokenIds streamed;
  const TokenIds text = generate(model, TokenIds{1, 2},
                                 {.max_tokens = 5,
                                  .min_tokens = 5,
                                  .sampling = {.temperature = 0, .no_repeat_ngram_size = 2},
                                  .eos_token_ids = {0, 3},
                                  .on_token = [&](Index, TokenId token) {
                                    streamed.push_back(token);
                                    return true;
                                  }});
  CHECK(text.size() == 5);
  CHECK(streamed == text);
}
