// Everything in layers/, and autograd/ below it.
#pragma once

#include "autograd/autograd.hpp"
#include "layers/attention.hpp"
#include "layers/dropout.hpp"
#include "layers/embedding.hpp"
#include "layers/feed_forward.hpp"
#include "layers/heads.hpp"
#include "layers/layer_norm.hpp"
#include "layers/learned_positional_encoding.hpp"
#include "layers/linear.hpp"
#include "layers/module.hpp"
#include "layers/multi_head_attention.hpp"
#include "layers/positional_encoding.hpp"
#include "layers/summary.hpp"
#include "layers/transformer.hpp"
#include "layers/transformer_decoder.hpp"
#include "layers/transformer_encoder.hpp"
