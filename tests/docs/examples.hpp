// What the examples in the comments of headers use without declaring it. They are compiled after
// this, with all public headers before it, and not run.
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

namespace examples {

using namespace weft;

extern Tape<> tape;
extern Random random;
extern std::uint32_t step;
extern Index n;
extern std::vector<float> from, to;

extern Tensor<float> X, Y;
extern Tensor<bool> mask;
extern Tokens tokens, targets, source, prompt, text;
extern Var<> x, a, b, q, k, v, s, logits, target, states, memory, h0, h0_c0, distances;
extern Var<> queries, keys, values;
extern Var<> weight, bias, weight_ih, weight_hh, bias_ih, bias_hh;
extern Parameter<float> model_weight;
extern Parameter<double> w;

extern Linear<> w1, w3;
extern MultiHeadAttention<> attention;
extern TransformerEncoderBlock<> encoder_block;
extern TransformerDecoderBlock<> block;
extern DecoderCache<> decoder_cache;
extern KeyValueCache<> cache;
extern Sequential<> model, pretrained;
extern Gpt<> gpt, draft;
extern GptOptions options;
extern EncoderDecoder<> translator;

extern DataSource<TensorBatch<TokenId>>&test_set, &held_out;
extern PairBatches pairs;
extern AdamW<> optimizer;
extern TrainingLoop<float>& trainer;
extern TrainingProgress<> progress;
extern ProcessGroup processes;
extern NextTokenFunction<float> next_token;
extern std::vector<TokenIds> sources, sequences;
