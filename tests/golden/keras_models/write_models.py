"""Writes small Keras models, one for each layer and option, into a folder: <case>.keras and
<case>.h5 of the whole model, some also <case>.weights.h5. values.h5 holds each model's inputs and
outputs, and its outputs in float64 from the weights in the file; cases.json lists the cases.

KERAS_BACKEND=tensorflow python3 write_models.py FOLDER [PART OF A NAME ...]
python3 write_models.py FOLDER --keras2 adds <case>_keras2.*, written by tf_keras (Keras 2).
"""

import json
import os
import sys
import zlib
from pathlib import Path

arguments = [a for a in sys.argv[1:] if a != "--keras2"]
keras2 = "--keras2" in sys.argv
# With PyTorch as backend, Keras multiplies matrices in single precision.
os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import logging
import warnings

import h5py
import numpy as np

logging.getLogger("absl").setLevel(logging.ERROR)  # that .h5 is an old format
warnings.simplefilter("ignore")

if keras2:
    import tensorflow
    import tf_keras as keras
    from tf_keras import layers, regularizers

    tensorflow.get_logger().setLevel("ERROR")
else:
    import keras
    from keras import layers, regularizers

folder = Path(arguments[0])
folder.mkdir(parents=True, exist_ok=True)
parts = arguments[1:] or [""]

batch, time, width, vocabulary = 5, 7, 4, 11
Input, Model, Sequential = keras.Input, keras.Model, keras.Sequential
cases = []  # (name, what it shows, a function that returns the model)


def case(name, shows, build):
    cases.append((name, shows, build))


def series(**options):
    """A float sequence. Some of its steps are zero, see `padded`."""
    return Input((time, width), **options)


def tokens(**options):
    return Input((time,), dtype="int32", **options)


def embedded(x, width=width):
    """Embeds tokens; 0 is padding."""
    return layers.Embedding(vocabulary, width, mask_zero=True)(x)


def plain(*stack):
    return Sequential([series(), *stack])


def masked(*stack):
    return Sequential([series(), layers.Masking(), *stack])


def vector(*stack):
    return Sequential([Input((6,)), *stack])


def functional(call, *inputs):
    """A model of a function of its inputs; one float sequence unless given."""
    inputs = list(inputs) or [series()]
    return Model(inputs if len(inputs) > 1 else inputs[0], call(*inputs))


def after_masking(call, count=1):
    """A function of `count` masked sequences."""
    return functional(lambda *x: call(*(layers.Masking()(y) for y in x)),
                      *(series() for _ in range(count)))


def after_embedding(call, count=1):
    return functional(lambda *x: call(*(embedded(y) for y in x)),
                      *(tokens() for _ in range(count)))


# Activations. Keras 2 lacks some and gives others another form.
names = """relu relu6 leaky_relu elu selu celu gelu swish silu softplus softsign tanh sigmoid
hard_sigmoid hard_silu hard_swish hard_tanh hard_shrink soft_shrink tanh_shrink threshold squareplus
sparse_plus sparsemax glu mish exponential softmax log_softmax log_sigmoid linear"""
for name in names.split():
    if hasattr(keras.activations, name) and name not in ("glu", "threshold"):
        case(f"activation_{name}", f"Dense(activation={name!r}) and Activation({name!r})",
             lambda name=name: plain(layers.Dense(6, activation=name), layers.Dense(6),
                                     layers.Activation(name)))
slope = {"negative_slope": 0.15}
for name, make in {
    "relu": lambda: layers.ReLU(),
    "relu_max": lambda: layers.ReLU(max_value=1.5),
    "relu_all": lambda: layers.ReLU(max_value=1.5, threshold=0.25, **slope),
    "leaky_relu": lambda: layers.LeakyReLU(),
    "leaky_relu_slope": lambda: layers.LeakyReLU(0.1),
    "prelu": lambda: layers.PReLU(),
    "prelu_shared": lambda: layers.PReLU(shared_axes=[1]),
    "elu": lambda: layers.ELU(),
    "elu_alpha": lambda: layers.ELU(0.7),
    "softmax": lambda: layers.Softmax(),
    "softmax_axis": lambda: layers.Softmax(axis=1),
    "dropout": lambda: layers.Dropout(0.3),
    "dropout_noise_shape": lambda: layers.Dropout(0.3, noise_shape=(None, 1, width)),
    "spatial_dropout": lambda: layers.SpatialDropout1D(0.3),
    "gaussian_noise": lambda: layers.GaussianNoise(0.3),
    "gaussian_dropout": lambda: layers.GaussianDropout(0.3),
    "alpha_dropout": lambda: layers.AlphaDropout(0.3),
    "activity_regularization": lambda: layers.ActivityRegularization(l1=0.01, l2=0.02),
    "activation_layer_in_dense": lambda: layers.Dense(3, activation=layers.LeakyReLU(0.1)),
}.items():
    case(f"layer_{name}", f"{name} after Dense", lambda make=make: plain(layers.Dense(width), make()))
case("layer_softmax_masked", "Softmax(axis=1) excludes masked steps: its mask is given by a call",
     lambda: functional(lambda x, mask: layers.Softmax()(x, mask=mask), series(),
                        Input((time, width), dtype="bool")))

# Dense and tabular models.
case("dense_tabular", "Sequential of Dense on vectors",
     lambda: vector(layers.Dense(8, "relu"), layers.Dropout(0.2), layers.Dense(3, "softmax")))
case("dense_no_bias", "Dense without bias", lambda: vector(layers.Dense(5, use_bias=False)))
case("dense_named", "layers' own names, with characters that paths may not have",
     lambda: Sequential([Input((6,), name="features"),
                         layers.Dense(5, name="first.layer" if keras2 else "first layer"),
                         layers.Dense(3, name="out-2")], name="my_model" if keras2 else "my model"))
case("dense_int", "Embedding, Flatten, Dense, as many tutorials do it",
     lambda: Sequential([tokens(), layers.Embedding(vocabulary, 3), layers.Flatten(),
                         layers.Dense(2, "sigmoid")]))
case("dense_unbuilt_input", "Sequential whose first layer names the shape of its input",
     lambda: Sequential([layers.Dense(5, input_shape=(6,)), layers.Dense(2)]))
case("dense_regularized", "regularizers of kernel, bias and activity",
     lambda: vector(layers.Dense(5, kernel_regularizer="l2", bias_regularizer=regularizers.l1(0.02),
                                 activity_regularizer=regularizers.L2(0.03)),
                    layers.Dense(3, kernel_regularizer=regularizers.l1_l2(0.01, 0.02))))
case("dense_constrained", "a constraint, to be refused",
     lambda: vector(layers.Dense(5, kernel_constraint="non_neg")))
case("dense_frozen", "trainable=False",
     lambda: vector(layers.Dense(5, trainable=False), layers.Dense(2)))

# Embedding, Masking and recurrent layers.
case("embedding", "Embedding alone", lambda: Sequential([tokens(), layers.Embedding(11, 3)]))
case("embedding_regularized", "embeddings_regularizer, input_length of Keras 2",
     lambda: Sequential([tokens(), layers.Embedding(11, 3, mask_zero=True,
                                                    embeddings_regularizer="l2"),
                         layers.GRU(3)]))
case("masking", "Masking(0.0) zeroes masked steps", lambda: masked())
case("masking_value", "Masking(-1.0), no step of the input has it",
     lambda: plain(layers.Masking(-1.0), layers.GRU(3)))
options = {
    "default": {},
    "sequences": {"return_sequences": True},
    "backwards": {"go_backwards": True},
    "backwards_sequences": {"go_backwards": True, "return_sequences": True},
    "no_bias": {"use_bias": False, "return_sequences": True},
    "unroll": {"unroll": True, "return_sequences": True},
    "unroll_backwards": {"unroll": True, "go_backwards": True, "return_sequences": True},
    "activation": {"activation": "relu", "return_sequences": True},
    "dropouts": {"dropout": 0.2, "recurrent_dropout": 0.3},
    "regularized": {"kernel_regularizer": "l2", "recurrent_regularizer": "l1",
                    "bias_regularizer": "l2", "activity_regularizer": "l2"},
}
gates = {"hard_sigmoid": {"recurrent_activation": "hard_sigmoid", "return_sequences": True},
         "softsign": {"activation": "softsign", "recurrent_activation": "tanh"}}
lstm = {"no_forget_bias": {"unit_forget_bias": False}}
gru = {"before": {"reset_after": False, "return_sequences": True},
       "before_no_bias": {"reset_after": False, "use_bias": False, "return_sequences": True},
       "before_hard_sigmoid": {"reset_after": False, "recurrent_activation": "hard_sigmoid"},
       "before_backwards": {"reset_after": False, "go_backwards": True},
       "after_no_bias_hard_sigmoid": {"use_bias": False, "recurrent_activation": "hard_sigmoid"}}
for kind, own in (("SimpleRNN", {}), ("LSTM", gates | lstm), ("GRU", gates | gru)):
    layer = getattr(layers, kind)
    low = kind.lower()
    for name, option in (options | own).items():
        case(f"{low}_{name}", f"{kind}({option})",
             lambda layer=layer, option=option: plain(layer(3, **option)))
        if name not in ("dropouts", "regularized", "softsign", "no_forget_bias"):
            case(f"{low}_{name}_masked", f"{kind}({option}), a masked step keeps state and output",
                 lambda layer=layer, option=option: masked(layer(3, **option)))
    case(f"{low}_embedding_masked", "Embedding(mask_zero) before two recurrent layers",
         lambda layer=layer: Sequential([tokens(), layers.Embedding(11, 4, mask_zero=True),
                                         layer(3, return_sequences=True), layer(4)]))
    case(f"{low}_stateful", "stateful: `again` is the output of a second call",
         lambda layer=layer: Sequential([series(batch_size=batch), layer(3, stateful=True),
                                         layers.Dense(2)]))
    case(f"{low}_stateful_masked", "stateful with masks: `again` is the output of a second call",
         lambda layer=layer: Sequential([series(batch_size=batch), layers.Masking(),
                                         layer(3, stateful=True, return_sequences=True)]))
    case(f"{low}_state", "return_state: the last output, then the states",
         lambda layer=layer: functional(lambda x: layer(3, return_state=True)(x)))
    case(f"{low}_state_masked", "return_state and return_sequences with masks",
         lambda layer=layer: after_masking(
             lambda x: layer(3, return_state=True, return_sequences=True)(x)))
    case(f"{low}_backwards_state_masked", "return_state, return_sequences, go_backwards with masks",
         lambda layer=layer: after_masking(lambda x: layer(
             3, return_state=True, return_sequences=True, go_backwards=True)(x)))
    case(f"{low}_zero_output", "zero_output_for_mask: masked steps output zeros",
         lambda layer=layer: masked(layer(3, return_sequences=True, zero_output_for_mask=True)))
    states = 2 if kind == "LSTM" else 1
    case(f"{low}_initial_state", "initial_state from inputs of the model",
         lambda layer=layer, states=states: functional(
             lambda x, *s: layer(3, return_sequences=True)(x, initial_state=list(s)),
             series(), *(Input((3,)) for _ in range(states))))
    cell = getattr(layers, f"{kind}Cell")
    case(f"{low}_cell", f"RNN({kind}Cell), masked",
         lambda cell=cell: masked(layers.RNN(cell(3), return_sequences=True)))
    case(f"{low}_stacked_cells", f"RNN of two {kind}Cell",
         lambda cell=cell: plain(layers.RNN([cell(3), cell(4)], return_sequences=True)))

# Bidirectional.
for kind in ("SimpleRNN", "LSTM", "GRU"):
    layer = getattr(layers, kind)
    low = kind.lower()
    for merge in ("concat", "sum", "mul", "ave", None):
        for sequences in (False, True):
            name = f"bidirectional_{low}_{merge}{'_sequences' * sequences}".lower()
            make = lambda layer=layer, merge=merge, sequences=sequences: layers.Bidirectional(
                layer(3, return_sequences=sequences), merge_mode=merge)
            if kind != "SimpleRNN" or merge == "concat":
                case(name, f"Bidirectional({kind}, merge_mode={merge})",
                     lambda make=make: functional(lambda x: make()(x)))
                case(f"{name}_masked", f"Bidirectional({kind}, merge_mode={merge}) with masks",
                     lambda make=make: after_masking(lambda x: make()(x)))
    case(f"bidirectional_{low}_state", "Bidirectional returns the states of both",
         lambda layer=layer: functional(lambda x: layers.Bidirectional(
             layer(3, return_sequences=True, return_state=True))(x)))
    case(f"bidirectional_{low}_stacked_masked", "two Bidirectional after Embedding(mask_zero)",
         lambda layer=layer: Sequential([
             tokens(), layers.Embedding(vocabulary, 4, mask_zero=True),
             layers.Bidirectional(layer(3, return_sequences=True)),
             layers.Dropout(0.2), layers.Bidirectional(layer(4), name="second"),
             layers.Dense(1, "sigmoid")]))
case("bidirectional_backward_layer", "backward_layer of other units and activation",
     lambda: masked(layers.Bidirectional(
         layers.LSTM(3, return_sequences=True),
         backward_layer=layers.LSTM(2, activation="relu", return_sequences=True,
                                    go_backwards=True))))
case("bidirectional_options", "Bidirectional(GRU) with reset_after=False, no bias, hard_sigmoid",
     lambda: masked(layers.Bidirectional(layers.GRU(
         3, reset_after=False, use_bias=False, recurrent_activation="hard_sigmoid"))))
case("bidirectional_initial_state", "initial_state of both directions",
     lambda: functional(lambda x, a, b: layers.Bidirectional(layers.GRU(3))(
         x, initial_state=[a, b]), series(), Input((3,)), Input((3,))))

# TimeDistributed and shapes.
case("time_distributed_dense", "TimeDistributed(Dense) passes the mask on to LSTM",
     lambda: masked(layers.TimeDistributed(layers.Dense(3)), layers.LSTM(3)))
case("time_distributed_dense_softmax", "an output at each step after LSTM, without mask",
     lambda: plain(layers.LSTM(4, return_sequences=True),
                   layers.TimeDistributed(layers.Dense(3, activation="softmax"))))
case("time_distributed_conv", "TimeDistributed of Conv1D, MaxPooling1D and Flatten, then LSTM",
     lambda: Sequential([Input((3, time, width)),
                         layers.TimeDistributed(layers.Conv1D(3, 2, activation="relu")),
                         layers.TimeDistributed(layers.MaxPooling1D(2)),
                         layers.TimeDistributed(layers.Flatten()), layers.LSTM(3)]))
case("time_distributed_lstm", "TimeDistributed(LSTM)",
     lambda: Sequential([Input((3, time, width)), layers.TimeDistributed(layers.LSTM(3))]))
case("time_distributed_model", "TimeDistributed of a Sequential",
     lambda: Sequential([Input((3, time, width)), layers.TimeDistributed(Sequential(
         [Input((time, width)), layers.LSTM(3), layers.Dense(2)]))]))
case("repeat_vector", "encoder and decoder with RepeatVector, which drops the mask",
     lambda: masked(layers.LSTM(3), layers.RepeatVector(3), layers.LSTM(3, return_sequences=True),
                    layers.TimeDistributed(layers.Dense(2))))
case("flatten", "Flatten", lambda: plain(layers.Flatten(), layers.Dense(2)))
case("flatten_channels_first", "Flatten(data_format=channels_first) moves the channels last",
     lambda: plain(layers.Flatten(data_format="channels_first")))
case("reshape", "Reshape", lambda: plain(layers.Reshape((width, time)), layers.Dense(2)))
case("reshape_unknown", "Reshape with -1", lambda: plain(layers.Reshape((-1, 2)), layers.LSTM(3)))
case("permute", "Permute", lambda: plain(layers.Permute((2, 1)), layers.Dense(3)))
case("zero_padding", "ZeroPadding1D", lambda: plain(layers.ZeroPadding1D((1, 2)), layers.Conv1D(2, 3)))
case("cropping", "Cropping1D", lambda: plain(layers.Cropping1D((1, 2))))
case("up_sampling", "UpSampling1D", lambda: plain(layers.UpSampling1D(3)))

# Convolution and pooling. Seven steps: "same" with strides pads unevenly.
convolutions = {
    "valid": {}, "same": {"padding": "same"}, "causal": {"padding": "causal"},
    "strides": {"strides": 2}, "same_strides": {"padding": "same", "strides": 2},
    "same_strides_3": {"padding": "same", "strides": 3, "kernel_size": 4},
    "causal_strides": {"padding": "causal", "strides": 2},
    "dilation": {"dilation_rate": 2}, "same_dilation": {"padding": "same", "dilation_rate": 2},
    "causal_dilation": {"padding": "causal", "dilation_rate": 2},
    "no_bias": {"use_bias": False}, "even_same": {"padding": "same", "kernel_size": 2},
    "activation": {"activation": "relu"}, "groups": {"groups": 2},
    "channels_first": {"data_format": "channels_first", "kernel_size": 2},
    "regularized": {"kernel_regularizer": "l2", "bias_regularizer": "l1"},
}
for name, option in convolutions.items():
    case(f"conv1d_{name}", f"Conv1D({option})",
         lambda option=option: plain(layers.Conv1D(6, **{"kernel_size": 3} | option)))
    both = name in ("valid", "same", "same_strides", "no_bias", "activation", "same_dilation",
                    "even_same", "channels_first")
    if both or name in ("causal", "causal_dilation"):
        case(f"separable_conv1d_{name}", f"SeparableConv1D({option}), depth_multiplier 2",
             lambda option=option: plain(layers.SeparableConv1D(
                 6, **{"kernel_size": 3, "depth_multiplier": 2} | option)))
    if both:
        case(f"depthwise_conv1d_{name}", f"DepthwiseConv1D({option}), depth_multiplier 2",
             lambda option=option: plain(layers.DepthwiseConv1D(
                 **{"kernel_size": 3, "depth_multiplier": 2} | option)))
case("conv1d_transpose", "Conv1DTranspose with strides",
     lambda: plain(layers.Conv1DTranspose(3, 3, strides=2)))
case("conv1d_transpose_same", "Conv1DTranspose with strides and padding same",
     lambda: plain(layers.Conv1DTranspose(3, 3, strides=2, padding="same")))
case("conv1d_masked", "Conv1D after Masking: the mask is dropped or passed on",
     lambda: masked(layers.Conv1D(4, 3, padding="same"), layers.GRU(3)))
case("conv1d_embedding_masked", "Embedding(mask_zero), Conv1D, global max: a usual classifier",
     lambda: Sequential([tokens(), layers.Embedding(11, 4, mask_zero=True), layers.Conv1D(4, 3),
                         layers.GlobalMaxPooling1D(), layers.Dense(1, "sigmoid")]))
for kind in ("Max", "Average"):
    layer = getattr(layers, f"{kind}Pooling1D")
    whole = getattr(layers, f"Global{kind}Pooling1D")
    for name, option in {"valid": {}, "same": {"padding": "same"}, "strides": {"strides": 1},
                         "size_3_same": {"pool_size": 3, "padding": "same"},
                         "size_3_same_strides": {"pool_size": 3, "strides": 2, "padding": "same"},
                         "channels_first": {"data_format": "channels_first"}}.items():
        case(f"{kind.lower()}_pooling1d_{name}", f"{kind}Pooling1D({option})",
             lambda layer=layer, option=option: plain(layer(**{"pool_size": 2} | option)))
    for name, option in {"": {}, "_keepdims": {"keepdims": True},
                         "_channels_first": {"data_format": "channels_first"}}.items():
        case(f"global_{kind.lower()}_pooling1d{name}", f"Global{kind}Pooling1D({option})",
             lambda whole=whole, option=option: plain(whole(**option)))
    case(f"global_{kind.lower()}_pooling1d_masked",
         f"Global{kind}Pooling1D with a mask: the average counts unmasked steps, the maximum all",
         lambda whole=whole: after_embedding(lambda x: whole()(x)))
    case(f"global_{kind.lower()}_pooling1d_masked_keepdims", f"Global{kind}Pooling1D, keepdims, mask",
         lambda whole=whole: after_embedding(lambda x: whole(keepdims=True)(x)))

# Normalization.
for name, make in {
    "layer_normalization": lambda: layers.LayerNormalization(),
    "layer_normalization_epsilon": lambda: layers.LayerNormalization(epsilon=0.1),
    "layer_normalization_axis": lambda: layers.LayerNormalization(axis=1),
    "layer_normalization_axes": lambda: layers.LayerNormalization(axis=[1, 2]),
    "layer_normalization_no_center": lambda: layers.LayerNormalization(center=False),
    "layer_normalization_no_scale": lambda: layers.LayerNormalization(scale=False),
    "layer_normalization_plain": lambda: layers.LayerNormalization(center=False, scale=False),
    "batch_normalization": lambda: layers.BatchNormalization(),
    "batch_normalization_epsilon": lambda: layers.BatchNormalization(epsilon=0.1, momentum=0.9),
    "batch_normalization_axis": lambda: layers.BatchNormalization(axis=1),
    "batch_normalization_no_center": lambda: layers.BatchNormalization(center=False),
    "batch_normalization_no_scale": lambda: layers.BatchNormalization(scale=False),
    "unit_normalization": lambda: layers.UnitNormalization(),
    "unit_normalization_axis": lambda: layers.UnitNormalization(axis=1),
    "unit_normalization_axes": lambda: layers.UnitNormalization(axis=[1, 2]),
    "rescaling": lambda: layers.Rescaling(1 / 127.5, offset=-1.0),
    "group_normalization": lambda: layers.GroupNormalization(2),
    "rms_normalization": lambda: layers.RMSNormalization(),
}.items():
    if not (keras2 and name == "rms_normalization"):
        case(name, name, lambda make=make: plain(make()))
case("batch_normalization_masked", "BatchNormalization passes the mask on",
     lambda: masked(layers.BatchNormalization(), layers.LSTM(3)))
case("batch_normalization_tabular", "Dense, BatchNormalization, Activation",
     lambda: vector(layers.Dense(5, use_bias=False), layers.BatchNormalization(),
                    layers.Activation("relu"), layers.Dense(1)))
case("layer_normalization_masked", "LayerNormalization passes the mask on",
     lambda: masked(layers.LayerNormalization(), layers.LSTM(3)))


def standardization():
    """Normalization adapted to data."""
    layer = layers.Normalization(axis=-1)
    layer.adapt(np.random.default_rng(3).normal(2, 3, (50, 6)).astype("float32"))
    return vector(layer, layers.Dense(2))


case("normalization", "Normalization's mean and variance of adapt()", standardization)

# Merging, without and with masks.
for kind in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate"):
    layer = getattr(layers, kind)
    count = 2 if kind == "Subtract" else 3
    case(kind.lower(), f"{kind} of {count}",
         lambda layer=layer, count=count: functional(lambda *x: layer()(list(x)),
                                                     *(series() for _ in range(count))))
    case(f"{kind.lower()}_masked", f"{kind} of {count} with different masks, then GRU",
         lambda layer=layer, count=count: after_masking(
             lambda *x: layers.GRU(3)(layer()(list(x))), count))
    case(f"{kind.lower()}_one_masked", f"{kind} of a masked sequence and one without mask, then GRU",
         lambda layer=layer: functional(
             lambda x, y: layers.GRU(3)(layer()([layers.Masking()(x), y])), series(), series()))
case("add_broadcast", "Add of shapes that broadcast",
     lambda: functional(lambda x, y: layers.Add()([x, y]), series(), Input((1, width))))
case("multiply_broadcast", "Multiply by one number a step: weights of attention by hand",
     lambda: functional(lambda x, y: layers.Multiply()([x, y]), series(), Input((time, 1))))
case("concatenate_axis", "Concatenate(axis=1)",
     lambda: functional(lambda x, y: layers.Concatenate(axis=1)([x, y]), series(), Input((3, width))))
case("concatenate_axis_masked", "Concatenate(axis=1) joins the masks, then GRU",
     lambda: after_masking(lambda x, y: layers.GRU(3)(layers.Concatenate(axis=1)([x, y])), 2))
for name, option in {"dot": {"axes": 2}, "dot_axes": {"axes": (2, 2)}, "dot_time": {"axes": 1},
                     "dot_normalize": {"axes": 2, "normalize": True},
                     "dot_negative": {"axes": -1}}.items():
    case(name, f"Dot({option})", lambda option=option: functional(
        lambda x, y: layers.Dot(**option)([x, y]), series(), series()))
case("dot_mixed", "Dot(axes=(2, 1))", lambda: functional(
    lambda x, y: layers.Dot(axes=(2, 1))([x, y]), series(), Input((width, 3))))
case("dot_vectors", "Dot of vectors, normalized: a cosine",
     lambda: functional(lambda x, y: layers.Dot(axes=1, normalize=True)([x, y]),
                        Input((6,)), Input((6,))))

# Attention.
attentions = {"attention": layers.Attention, "additive_attention": layers.AdditiveAttention}
for low, layer in attentions.items():
    own = {"scale": {"use_scale": True}, "no_scale": {"use_scale": False}, "dropout": {"dropout": 0.2}}
    own |= {"concat": {"score_mode": "concat"}} if low == "attention" else {}
    for name, option in ({"default": {}} | own).items():
        case(f"{low}_{name}", f"{layer.__name__}({option}) of query and value",
             lambda layer=layer, option=option: functional(
                 lambda x, y: layer(**option)([x, y]), series(), Input((5, width))))
    case(f"{low}_key", f"{layer.__name__} of query, value and key",
         lambda layer=layer: functional(lambda x, y, z: layer()([x, y, z]),
                                        series(), Input((5, 3)), Input((5, width))))
    case(f"{low}_masked", f"{layer.__name__}: masked values get no weight, masked queries give zeros",
         lambda layer=layer: after_embedding(lambda x, y: layer()([x, y]), 2))
    case(f"{low}_query_masked", f"{layer.__name__} with a mask of the query alone, then GRU",
         lambda layer=layer: functional(lambda x, y: layers.GRU(3)(layer()([embedded(x), y])),
                                        tokens(), series()))
    case(f"{low}_causal", f"{layer.__name__} with use_causal_mask and masks",
         lambda layer=layer: after_embedding(lambda x: layer()([x, x], use_causal_mask=True)))
    case(f"{low}_scores", f"{layer.__name__} also returns the weights",
         lambda layer=layer: functional(lambda x, y: layer()([x, y], return_attention_scores=True),
                                        series(), series()))
MHA = layers.MultiHeadAttention
for name, option in {"default": {}, "value_dim": {"value_dim": 3}, "no_bias": {"use_bias": False},
                     "output_shape": {"output_shape": 6}, "dropout": {"dropout": 0.1}}.items():
    case(f"multi_head_attention_{name}", f"MultiHeadAttention({option}) of query and value",
         lambda option=option: functional(lambda x, y: MHA(2, 3, **option)(x, y),
                                          series(), Input((5, 6))))
case("multi_head_attention_key", "MultiHeadAttention of query, value and key",
     lambda: functional(lambda x, y, z: MHA(2, 3)(x, y, z), series(), Input((5, 6)), Input((5, 3))))
case("multi_head_attention_masked", "MultiHeadAttention of a masked sequence with itself, then GRU",
     lambda: after_embedding(lambda x: layers.GRU(3)(MHA(2, 3)(x, x))))
case("multi_head_attention_masks", "MultiHeadAttention of sequences with different masks",
     lambda: after_embedding(lambda x, y: MHA(2, 3)(x, y), 2))
case("multi_head_attention_causal", "use_causal_mask and masks",
     lambda: after_embedding(lambda x: MHA(2, 3)(x, x, use_causal_mask=True)))
case("multi_head_attention_attention_mask", "attention_mask given by an input",
     lambda: functional(lambda x, mask: MHA(2, 3)(x, x, attention_mask=mask), series(),
                        Input((time, time), dtype="bool")))
case("multi_head_attention_scores", "MultiHeadAttention also returns the weights",
     lambda: functional(lambda x: MHA(2, 3)(x, x, return_attention_scores=True)))
if hasattr(layers, "GroupQueryAttention"):
    case("group_query_attention", "GroupQueryAttention",
         lambda: functional(lambda x: layers.GroupQueryAttention(3, 4, 2)(x, x)))


# Whole models.
def transformer():
    """A block of a transformer for classification."""
    inputs = tokens()
    x = embedded(inputs, 6)
    x = layers.LayerNormalization(epsilon=1e-6)(layers.Add()([x, MHA(2, 3, dropout=0.1)(x, x)]))
    y = layers.Dense(6)(layers.Dense(8, activation="relu")(x))
    x = layers.LayerNormalization(epsilon=1e-6)(layers.Add()([x, layers.Dropout(0.1)(y)]))
    return Model(inputs, layers.Dense(2, "softmax")(layers.GlobalAveragePooling1D()(x)))


def branches():
    inputs = series(name="series")
    left = layers.Conv1D(3, 3, padding="same", activation="relu", name="left")(inputs)
    right = layers.LSTM(3, return_sequences=True, name="right")(inputs)
    x = layers.Concatenate()([left, right, inputs])
    return Model(inputs, layers.Dense(2)(layers.Flatten()(x)))


def shared():
    """One encoder reads both inputs."""
    first, second = tokens(name="first"), tokens(name="second")
    embedding = layers.Embedding(vocabulary, 4, mask_zero=True)
    encoder = layers.LSTM(3)
    both = layers.Concatenate()([encoder(embedding(x)) for x in (first, second)])
    return Model([first, second], layers.Dense(1, "sigmoid")(both))


def several(inputs_form, outputs_form):
    text, numbers = tokens(name="text"), Input((6,), name="numbers")
    x = layers.Concatenate()([layers.GRU(3)(embedded(text)), layers.Dense(4, "relu")(numbers)])
    score, kind = layers.Dense(1, name="score")(x), layers.Dense(3, "softmax", name="kind")(x)
    return Model(inputs_form(text, numbers), outputs_form(score, kind))


def encoder():
    return Sequential([Input((time, width)), layers.LSTM(3), layers.Dense(4)], name="encoder")


def inner():
    first = Input((6,), name="inner_first")
    second = layers.Dense(4, "relu")(first)
    return Model(first, [layers.Dense(3)(second), second], name="inner")


def nested_in_functional():
    inputs = series()
    return Model(inputs, layers.Dense(2)(encoder()(inputs)))


def nested_twice():
    first, second = Input((6,)), Input((6,))
    model = inner()
    (a, b), (c, d) = model(first), model(second)
    return Model([first, second], [layers.Subtract()([a, c]), layers.Add()([b, d])])


def nested_deep():
    text = tokens()
    middle = Model(text, nested_in_functional()(layers.Embedding(vocabulary, width)(text)),
                   name="middle")
    return Sequential([tokens(), middle, layers.Dense(2)])


def nested_masked():
    """A mask from outside passes through a model within."""
    inner_inputs = Input((time, width))
    inner_model = Model(inner_inputs, layers.Dense(3)(layers.Dropout(0.1)(inner_inputs)))
    return after_embedding(lambda x: layers.GRU(3)(inner_model(x)))


def encoder_decoder(layer):
    """The states of the encoder start the decoder, as in translation with teacher forcing."""
    source, target = tokens(name="source"), tokens(name="target")
    _, *state = layer(3, return_state=True, name="encoder")(embedded(source))
    x, *_ = layer(3, return_sequences=True, return_state=True, name="decoder")(
        embedded(target), initial_state=state)
    return Model([source, target], layers.Dense(vocabulary, "softmax")(x))


def encoder_decoder_attention():
    source, target = tokens(), tokens()
    encoded, *state = layers.LSTM(3, return_sequences=True, return_state=True)(embedded(source))
    decoded = layers.LSTM(3, return_sequences=True)(embedded(target), initial_state=state)
    context = layers.Attention()([decoded, encoded])
    x = layers.Concatenate()([decoded, context])
    return Model([source, target], layers.TimeDistributed(layers.Dense(5))(x))


def compiled(model):
    """A training's step, so that the file holds the state of an optimizer and of a metric."""
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    x = np.random.default_rng(2).integers(0, vocabulary, (batch, time)).astype("int32")
    model.fit(x, np.ones((batch, 1), "float32"), verbose=0)
    return model


def sentiment():
    return Sequential([tokens(), layers.Embedding(vocabulary, 4, mask_zero=True),
                       layers.Bidirectional(layers.LSTM(3)), layers.Dense(1, "sigmoid")])


def all_the_way():
    """A mask passes through layers that keep it, to the layers that use it."""
    inputs = tokens()
    x = embedded(inputs)
    x = layers.SpatialDropout1D(0.1)(layers.Dense(4, "tanh")(x))
    x = layers.LayerNormalization()(layers.TimeDistributed(layers.Dense(3))(x))
    x = layers.Activation("relu")(layers.GaussianNoise(0.1)(x))
    x = layers.LeakyReLU()(layers.BatchNormalization()(x))
    x = layers.Concatenate()([x, layers.GRU(2, return_sequences=True)(x)])
    return Model(inputs, [layers.LSTM(3)(x), layers.GlobalAveragePooling1D()(x)])


case("model_transformer", "a transformer for classification with masks", transformer)
case("model_branches", "branches that meet", branches)
case("model_shared", "layers called twice, with masks", shared)
case("model_several_list", "several inputs and outputs",
     lambda: several(lambda *x: list(x), lambda *x: list(x)))
case("model_several_dict", "inputs and outputs in dictionaries",
     lambda: several(lambda a, b: {"b_text": a, "a_numbers": b},
                     lambda a, b: {"score": a, "kind": b}))
case("model_nested_functional", "Sequential in functional", nested_in_functional)
case("model_nested_twice", "a functional model of two outputs, called twice", nested_twice)
case("model_nested_deep", "models within models within models", nested_deep)
case("model_nested_sequential", "Sequential in Sequential",
     lambda: Sequential([series(), encoder(), layers.Dense(2)]))
case("model_nested_masked", "a mask passes through a model within", nested_masked)
for kind in ("SimpleRNN", "LSTM", "GRU"):
    case(f"model_encoder_decoder_{kind.lower()}", "return_state into initial_state, with masks",
         lambda kind=kind: encoder_decoder(getattr(layers, kind)))
case("model_encoder_decoder_attention", "encoder, decoder and attention with masks",
     encoder_decoder_attention)
case("model_compiled", "compiled and trained one step: optimizer and metrics in the file",
     lambda: compiled(sentiment()))
case("model_masks", "a mask through layers that keep it", all_the_way)
case("model_text_generator", "Embedding, two LSTM, Dense: text generation",
     lambda: Sequential([tokens(), layers.Embedding(vocabulary, 4),
                         layers.LSTM(5, return_sequences=True), layers.Dropout(0.2),
                         layers.LSTM(4), layers.Dense(vocabulary, "softmax")]))
case("model_any_length", "the length of sequences is not given",
     lambda: Sequential([Input((None, width)), layers.Masking(), layers.LSTM(3)]))
case("model_operators", "+ and * between tensors, a slice: operations instead of layers",
     lambda: functional(lambda x: (layers.Dense(width)(x) + x)[:, -1] * 2.0))
case("model_lambda", "Lambda, to be refused", lambda: plain(layers.Lambda(lambda x: 2 * x)))
case("model_conv2d", "Conv2D, to be refused",
     lambda: Sequential([Input((6, 6, 1)), layers.Conv2D(2, 3), layers.Flatten(), layers.Dense(2)]))


# Text.
def text_vectorization(**options):
    layer = layers.TextVectorization(**options)
    layer.adapt(np.array(["the cat sat on the mat", "the dog, the CAT!", "naïve café on a mat"]))
    return layer


def text_model(layer, *stack):
    return Sequential([Input((), dtype="string"), layer, *stack])


texts = np.array(["The cat sat.", "a dog on a zebra", "", "mat mat mat the cat on the mat today",
                  "café, naïve"], dtype=object)
try:
    if not keras2:
        import tensorflow  # Keras needs it for text whatever the backend
    for name, option in {
        "int": {"output_sequence_length": 6}, "max_tokens": {"max_tokens": 6},
        "no_standardize": {"standardize": None, "output_sequence_length": 6},
        "lower": {"standardize": "lower", "output_sequence_length": 6},
        "character": {"split": "character", "output_sequence_length": 9},
        "ngrams": {"ngrams": 2, "output_sequence_length": 6},
        "multi_hot": {"output_mode": "multi_hot"}, "count": {"output_mode": "count"},
        "tf_idf": {"output_mode": "tf_idf"},
    }.items():
        case(f"text_vectorization_{name}", f"TextVectorization({option})",
             lambda option=option: text_model(text_vectorization(**option)))
    case("text_vectorization_model", "TextVectorization before Embedding and LSTM",
         lambda: text_model(text_vectorization(output_sequence_length=6),
                            layers.Embedding(vocabulary, 4, mask_zero=True), layers.LSTM(3),
                            layers.Dense(1, "sigmoid")))
    case("string_lookup", "StringLookup with a given vocabulary",
         lambda: Sequential([Input((2,), dtype="string"),
                             layers.StringLookup(vocabulary=["cat", "dog", "mat"])]))
    case("integer_lookup", "IntegerLookup with a given vocabulary",
         lambda: Sequential([Input((3,), dtype="int64"),
                             layers.IntegerLookup(vocabulary=[4, 2, 9])]))
except ImportError:
    print("without TensorFlow there are no cases of text")


def padded(index, shape):
    """Which steps are not padding. Rows of the first input are padded in front, behind, in the
    middle, everywhere and nowhere; those of the others by other numbers of steps, and in their last
    two rows in front and behind."""
    keep = np.ones(shape, bool)
    steps = shape[1]
    for row in range(shape[0]):
        kind = ("front", "behind", "middle", *(("front", "behind") if index else ("all", "none")))[row]
        count = 1 + (2 * row + index) % max(steps - 2, 1)
        keep[row, {"front": slice(count), "behind": slice(steps - count, None), "all": slice(None),
                   "middle": slice(1, 1 + count), "none": slice(0)}[kind]] = False
    return keep


def draw(index, tensor, random):
    """Random values for an input of a model."""
    shape = [batch if i == 0 else (time if n is None else n) for i, n in enumerate(tensor.shape)]
    dtype = keras.backend.standardize_dtype(tensor.dtype) if not keras2 else tensor.dtype.name
    if dtype == "string":
        return texts if len(shape) == 1 else random.choice(["cat", "mat", "fish", ""], shape)
    if dtype == "bool":
        return random.random(shape) < 0.6
    if dtype.startswith("int"):
        values = random.integers(1, vocabulary, shape).astype(dtype)
        return values * padded(index, shape) if shape[1] > 3 else values
    values = random.standard_normal(shape).astype("float32")
    if len(shape) == 3 and shape[1] > 2 and shape[1] != shape[2]:
        values *= padded(index, shape[:2])[..., None]
    return values


def randomize(model, random):
    """Every weight becomes distinguishable, also those that start as zeros and ones."""
    for weight in model.weights:
        if "float" in str(weight.dtype):
            value = 0.5 * random.standard_normal(weight.shape).astype("float32")
            positive = "variance" in weight.name
            weight.assign(0.5 + np.abs(value) if positive else value)


def flat(values):
    """Outputs in the order in which Keras flattens lists and dictionaries."""
    if isinstance(values, dict):
        values = [values[key] for key in sorted(values)]
    values = values if isinstance(values, (list, tuple)) else [values]
    return [v.numpy() if keras2 else keras.ops.convert_to_numpy(v) for v in values]


def use_float(dtype):
    keras.backend.set_floatx(dtype)
    (keras.mixed_precision.set_global_policy if keras2 else keras.config.set_dtype_policy)(dtype)


def call(model, inputs):
    """The model's outputs. Inputs have the names that the model gives them."""
    structure = model._nested_inputs if keras2 else getattr(model, "_inputs_struct", None)
    if isinstance(structure, dict):
        inputs = dict(zip(sorted(structure), inputs))
    elif len(inputs) == 1:
        inputs = inputs[0]
    return flat(model(inputs, training=False))


def tensors(model):
    """The inputs of a model in the order in which they are flattened."""
    structure = model._nested_inputs if keras2 else getattr(model, "_inputs_struct", None)
    if isinstance(structure, dict):
        return [structure[key] for key in sorted(structure)]
    return list(model.inputs)


def convert(values):
    return values.astype(h5py.string_dtype()) if values.dtype.kind in "OUS" else values


suffix = "_keras2" if keras2 else ""
listing = folder / "cases.json"
listed = {c["name"]: c for c in json.loads(listing.read_text())} if listing.exists() else {}
with h5py.File(folder / "values.h5", "a") as values:
    for name, shows, build in cases:
        if not any(part in name for part in parts):
            continue
        seed = zlib.crc32(name.encode())
        random = np.random.default_rng(seed)
        keras.backend.clear_session()
        keras.utils.set_random_seed(1)
        use_float("float32")
        name += suffix
        entry = {"name": name, "shows": shows, "keras": keras.__version__, "files": [], "notes": []}
        try:
            model = build()
        except Exception as error:
            print(f"{name}: cannot be built: {type(error).__name__}: {str(error)[:200]}")
            continue
        if not name.startswith(("text_", "normalization", "integer_", "string_")):
            randomize(model, random)
        inputs = [draw(i, tensor, random) for i, tensor in enumerate(tensors(model))]
        weights = name.startswith(("model_", "bidirectional_", "batch_", "multi_", "dense_", "time_")) \
            or "stacked_cells" in name or "default" in name
        kinds = ["h5", "keras"] + ["weights.h5"] * weights + ["legacy.h5"] * (weights and keras2)
        for kind in kinds:
            path = folder / f"{name}.{kind}"
            try:
                if kind == "weights.h5":
                    model.save_weights(path)
                elif kind == "legacy.h5":
                    path = folder / f"{name}_weights.h5"
                    model.save_weights(path, save_format="h5")
                else:
                    model.save(path)
                entry["files"].append(path.name)
            except Exception as error:
                path.unlink(missing_ok=True)
                entry["notes"].append(f"Keras cannot write {path.name}: {str(error)[:200]}")
        group = values[name] if name in values else values.create_group(name)
        group.clear()
        try:
            outputs = call(model, inputs)
            for i, x in enumerate(inputs):
                group[f"input{i}"] = convert(x)
            for i, y in enumerate(outputs):
                group[f"output{i}"] = convert(y)
            if "stateful" in name:
                for i, y in enumerate(call(model, inputs)):
                    group[f"again{i}"] = y
            entry["inputs"] = [t.name.split(":")[0] for t in tensors(model)]
            entry["not_finite"] = not all(np.isfinite(y).all() for y in outputs if y.dtype.kind == "f")
            if outputs[0].dtype == np.float32 and not name.startswith(("text_", "model_compiled")):
                weights = model.get_weights()
                if "stateful" in name and len(weights) > len(model.trainable_weights):
                    raise NotImplementedError("states are weights; see again")
                keras.backend.clear_session()  # also forgets the type
                use_float("float64")
                double = build()
                double.set_weights(weights)
                for i, y in enumerate(call(double, inputs)):
                    group[f"double{i}"] = y
        except Exception as error:
            entry["notes"].append(f"{type(error).__name__}: {str(error)[:300]}")
        if entry["notes"]:
            print(name, *entry["notes"], sep="\n    ")
        listed[name] = entry
        listing.write_text(json.dumps(list(listed.values()), indent=1, ensure_ascii=False) + "\n")
