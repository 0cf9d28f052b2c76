// The benchmarks with PyTorch's C++ API: one training step of a workload.
// usage: torch_step WORKLOAD THREADS SECONDS    prints: median_ms tokens peak_mib
#include <sys/resource.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>

namespace F = torch::nn::functional;
using torch::Tensor;
using torch::nn::Embedding;
using torch::nn::LayerNorm;
using torch::nn::Linear;

namespace {

Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads, bool causal) {
  const auto split = [&](const Tensor& x) { return x.unflatten(-1, {heads, -1}).transpose(1, 2); };
  return at::scaled_dot_product_attention(split(q), split(k), split(v), {}, 0.0, causal)
      .transpose(1, 2)
      .flatten(-2);
}

struct BlockImpl : torch::nn::Module {
  BlockImpl(int64_t width, int64_t heads_, bool gelu_, bool causal_, bool cross_)
      : heads(heads_), gelu(gelu_), causal(causal_), cross(cross_) {
    const auto linear = [&](const char* name, int64_t in, int64_t out) {
      return register_module(name, Linear(in, out));
    };
    const auto norm = [&](const char* name) {
      return register_module(name, LayerNorm(torch::nn::LayerNormOptions({width})));
    };
    norm1 = norm("norm1"), norm2 = norm("norm2");
    qkv = linear("qkv", width, 3 * width), o = linear("o", width, width);
    dense1 = linear("dense1", width, 4 * width), dense2 = linear("dense2", 4 * width, width);
    if (!cross) return;
    norm3 = norm("norm3");
    q = linear("q", width, width), kv = linear("kv", width, 2 * width);
    o2 = linear("o2", width, width);
  }
  Tensor forward(Tensor x, const Tensor& memory = {}) {
    const auto parts = qkv(norm1(x)).chunk(3, -1);
    x = x + o(attend(parts[0], parts[1], parts[2], heads, causal));
    if (cross) {
      const auto keys_values = kv(memory).chunk(2, -1);
      x = x + o2(attend(q(norm3(x)), keys_values[0], keys_values[1], heads, false));
    }
    const Tensor h = dense1(norm2(x));
    return x + dense2(gelu ? at::gelu(h, "tanh") : at::relu(h));
  }
  int64_t heads;
  bool gelu, causal, cross;
  LayerNorm norm1{nullptr}, norm2{nullptr}, norm3{nullptr};
  Linear qkv{nullptr}, o{nullptr}, dense1{nullptr}, dense2{nullptr};
  Linear q{nullptr}, kv{nullptr}, o2{nullptr};
};
TORCH_MODULE(Block);

using Step = std::function<void()>;

Step training_step(std::shared_ptr<torch::nn::Module> model, std::function<Tensor()> loss) {
  const auto parameters = model->parameters();
  const auto optimizer =
      std::make_shared<torch::optim::AdamW>(parameters, torch::optim::AdamWOptions(1e-3));
  return [=] {
    optimizer->zero_grad(true);
    loss().backward();
    torch::nn::utils::clip_grad_norm_(parameters, 1.0);
    optimizer->step();
  };
}

struct Model : torch::nn::Module {
  std::vector<Block> encoder, decoder;
  std::vector<Block> blocks(const std::string& name, int64_t count, int64_t width, int64_t heads,
                            bool gelu, bool causal, bool cross) {
    std::vector<Block> result;
    for (int64_t i = 0; i < count; ++i)
      result.push_back(
          register_module(name + std::to_string(i), Block(width, heads, gelu, causal, cross)));
    return result;
  }
};

Step gpt_step(const std::vector<int64_t>& s) {
  const auto [vocabulary, context, layers, heads, width, batch] =
      std::tuple(s[0], s[1], s[2], s[3], s[4], s[5]);
  auto model = std::make_shared<Model>();
  Embedding tokens = model->register_module("tokens", Embedding(vocabulary, width));
  Embedding positions = model->register_module("positions", Embedding(context, width));
  LayerNorm norm = model->register_module("norm", LayerNorm(torch::nn::LayerNormOptions({width})));
  model->decoder = model->blocks("block", layers, width, heads, true, true, false);
  const Tensor x = torch::randint(vocabulary, {batch, context});
  const Tensor y = torch::randint(vocabulary, {batch, context});
  return training_step(model, [=]() mutable {
    Tensor h = tokens(x) + positions->weight;
    for (Block& block : model->decoder) h = block(h);
    return F::cross_entropy(F::linear(norm(h), tokens->weight).flatten(0, 1), y.flatten());
  });
}

Step pronunciation_step() {
  constexpr int64_t letters = 31, phones = 43, width = 96, heads = 4, batch = 128, length = 8;
  auto model = std::make_shared<Model>();
  Embedding source_embedding = model->register_module("letters", Embedding(letters, width));
  Embedding target_embedding = model->register_module("phones", Embedding(phones, width));
  Linear output = model->register_module("output", Linear(width, phones));
  const torch::nn::LayerNormOptions options({width});
  LayerNorm norm1 = model->register_module("norm1", LayerNorm(options));
  LayerNorm norm2 = model->register_module("norm2", LayerNorm(options));
  model->encoder = model->blocks("encoder", 2, width, heads, false, false, false);
  model->decoder = model->blocks("decoder", 2, width, heads, false, true, true);
  const Tensor table = torch::randn({length, width});
  const Tensor x = torch::randint(letters, {batch, length});
  const Tensor y = torch::randint(phones, {batch, length});
  return training_step(model, [=]() mutable {
    Tensor memory = source_embedding(x) + table;
    for (Block& block : model->encoder) memory = block(memory);
    memory = norm1(memory);
    Tensor h = target_embedding(y) + table;
    for (Block& block : model->decoder) h = block(h, memory);
    return F::cross_entropy(output(norm2(h)).flatten(0, 1), y.flatten(),
                            F::CrossEntropyFuncOptions().label_smoothing(0.1));
  });
}

Step attention_step(int64_t width, int64_t heads, int64_t batch, int64_t queries, int64_t keys) {
  std::vector<Linear> layers;
  for (int i = 0; i < 4; ++i)
    layers.push_back(Linear(torch::nn::LinearOptions(width, width).bias(false)));
  const Tensor x = torch::randn({batch, queries, width}).requires_grad_();
  const Tensor y = torch::randn({batch, keys, width}).requires_grad_();
  const Tensor upstream = torch::randn({batch, queries, width});
  return [=]() mutable {
    x.mutable_grad().reset();
    y.mutable_grad().reset();
    for (Linear& layer : layers) layer->weight.mutable_grad().reset();
    layers[3](attend(layers[0](x), layers[1](y), layers[2](y), heads, false)).backward(upstream);
  };
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string workload = argv[1];
  torch::set_num_threads(std::stoi(argv[2]));
  const double seconds = std::stod(argv[3]);
  const std::map<std::string, std::vector<int64_t>> gpts = {{"W1", {30, 10, 2, 4, 32, 64}},
                                                            {"W2", {65, 64, 4, 4, 128, 12}},
                                                            {"W3", {65, 256, 6, 6, 384, 8}},
                                                            {"W4", {50257, 64, 12, 12, 768, 4}}};
  Step step;
  int64_t tokens = 0;
  if (const auto found = gpts.find(workload); found != gpts.end()) {
    step = gpt_step(found->second);
    tokens = found->second[1] * found->second[5];
  } else if (workload == "W5") {
    step = pronunciation_step();
    tokens = 1024;
  } else if (workload == "W6") {
    step = attention_step(100, 5, 2, 4, 6);
    tokens = 8;
  } else {
    tokens = std::stoll(workload.substr(3));
    step = attention_step(512, 8, 1, tokens, tokens);
  }

  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  for (int i = 0; i < 3; ++i) step();
  std::vector<double> times;
  for (const auto start = Clock::now(); times.size() < 5 || seconds_since(start) < seconds;) {
    const auto before = Clock::now();
    step();
    times.push_back(seconds_since(before));
  }
  std::sort(times.begin(), times.end());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%.6f %lld %.1f\n", 1e3 * times[times.size() / 2], static_cast<long long>(tokens),
              static_cast<double>(usage.ru_maxrss) / 1024.0);
}
