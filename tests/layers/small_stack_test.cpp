// Threads with small stacks: training needs little of them.
#include <pthread.h>

#include <functional>

#include <weft/layers.hpp>
#include <weft/train.hpp>
#include "autograd/internal/bf16_emulation.hpp"
#include "tests/catch.hpp"

using namespace weft;

namespace {

// Runs `body` on a thread with a stack of 256 KiB, from which what is thread_local is taken, too.
void run_with_small_stack(const std::function<void()>& body) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, std::size_t{256} << 10) == 0);
  const auto run = [](void* function) -> void* {
    (*static_cast<const std::function<void()>*>(function))();
    return nullptr;
  };
  pthread_t thread{};
  REQUIRE(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&body)) ==
          0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

template <class T>
double loss_after_a_step(Precision precision) {
  Random random(1);
  Gpt<T> model({.vocabulary_size = 50,
                .max_len = 300,
                .num_hiddens = 256,
                .num_heads = 4,
                .num_blocks = 1,
                .dropout = 0.1},
               random);
  const Tokens tokens({2, 300}), targets({2, 300});
  AdamW<T> optimizer(model, {.lr = 1e-3});
  Tape<T> tape({.training = true, .precision = precision});
  double loss = 0.0;
  for (int step = 0; step < 2; ++step) {
    const Var<T> mean = cross_entropy(model(tape, tokens), targets);
    loss = static_cast<double>(mean.item());
    tape.backward(mean);
    optimizer.step();
  }
  return loss;
}

}  // namespace

TEST_CASE("small stack: a model trains on a thread with 256 KiB", "[layers]") {
  const EmulateBf16 emulation;
  double full = 0.0, exact = 0.0, bf16 = 0.0;
  run_with_small_stack([&] {
    full = loss_after_a_step<float>(Precision::full);
    exact = loss_after_a_step<double>(Precision::full);
    bf16 = loss_after_a_step<float>(Precision::bf16);
  });
  CHECK(full == loss_after_a_step<float>(Precision::full));
  CHECK(exact == loss_after_a_step<double>(Precision::full));
  CHECK(bf16 == loss_after_a_step<float>(Precision::bf16));
}
