// Counts what a training step takes from the heap. The global operator new of this program counts;
// memory that libraries take in other ways is theirs.
#include <atomic>
#include <cstdlib>
#include <new>

#include "layers/layers.hpp"
#include "tests/catch.hpp"
#include "train/train.hpp"

namespace {
std::atomic<int> requests{0};

void* counted(std::size_t size, std::size_t alignment) {
  ++requests;
  const std::size_t whole = (std::max<std::size_t>(size, 1) + alignment - 1) / alignment;
  if (void* memory = std::aligned_alloc(alignment, whole * alignment)) return memory;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

using namespace weft;

namespace {

// An encoder-decoder with everything that layers and options bring.
struct Translator : Module<float> {
  explicit Translator(Random& random)
      : embedding({.num_embeddings = 11, .embedding_dim = 16}, random),
        position({.num_hiddens = 16, .dropout = 0.1}),
        encoder(transformer(Activation::gelu), random),
        decoder(transformer(Activation::relu), random),
        output({16, 11}, random) {}

  static TransformerOptions transformer(Activation activation) {
    return {.num_blocks = 2,
            .block = {.num_hiddens = 16,
                      .ffn_num_hiddens = 32,
                      .num_heads = 2,
                      .dropout = 0.1,
                      .activation = activation}};
  }
  Var<float> operator()(Tape<float>& tape, const Batch& batch) const {
    const Var<float> memory =
        encoder(position(embedding(tape, batch.source.tokens)), {batch.source.valid_lens});
    return output(
        decoder(position(embedding(tape, batch.target.tokens)), memory, {batch.source.valid_lens}));
  }
  void members(Members<float>& members) override {
    members.type("Translator");
    members("embedding", embedding);
    members("position", position);
    members("encoder", encoder);
    members("decoder", decoder);
    members("output", output);
  }

  Embedding<float> embedding;
  PositionalEncoding<float> position;
  TransformerEncoder<float> encoder;
  TransformerDecoder<float> decoder;
  Linear<float> output;
};

}  // namespace

TEST_CASE("training: from the second step on the heap is not asked", "[train]") {
  Random random(1);
  Translator model(random);
  AdamW<float> optimizer(model, {.lr = 1e-3, .weight_decay = 0.1});
  std::vector<SequencePair> pairs(12, {{4, 5, 6, 7}, {8, 9, 10}});
  pairs[3].source.pop_back();
  PairBatches batches(pairs, {.batch_size = 12});
  const Batch batch = batches.batch(0, 0);
  const std::vector<Batch> halves{part_of(batch, 0, 6), part_of(batch, 6, 12)};
  ParallelPass<float> pass(named_parameters(model), 2, {.training = true});
  Tape<float> tape({.training = true});

  const auto step = [&] {
    const Var<float> loss = cross_entropy(model(tape, batch), batch.labels,
                                          {.label_smoothing = 0.1, .divisor = batch.divisor});
    tape.backward(loss);
    optimizer.step(clip_factor(optimizer.grad_norm(), 1.0));
  };
  const auto step_in_parts = [&] {
    pass.add_gradients(tape.step(), 2, [&](Tape<float>& own, Index part) {
      const Batch& half = halves[static_cast<std::size_t>(part)];
      return cross_entropy(model(own, half), half.labels, {.divisor = half.divisor});
    });
    optimizer.step(clip_factor(optimizer.grad_norm(), 1.0));
  };
  step();
  step_in_parts();
  // Checked at the end: the checks ask the heap themselves.
  const int before = requests;
  for (int i = 0; i < 5; ++i) step();
  const int between = requests;
  for (int i = 0; i < 5; ++i) step_in_parts();
  const int after = requests;
  CHECK(between - before == 0);
  CHECK(after - between == 0);
  CHECK(before > 0);
}
