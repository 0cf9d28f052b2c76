"""What models.py varies: base configurations, values of entries, harmless and unknown entries, and
entries that interact."""

SIZES = {"vocab_size": 48, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2,
         "num_attention_heads": 4, "max_position_embeddings": 64, "bos_token_id": 1,
         "eos_token_id": 2, "pad_token_id": 0}
LLAMA = {**SIZES, "num_key_value_heads": 2, "rms_norm_eps": 1e-5, "hidden_act": "silu",
         "tie_word_embeddings": False, "attention_bias": False}
BERT = {**SIZES, "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu"}
BASES = {
    "gpt2": {"model_type": "gpt2", "vocab_size": 48, "n_positions": 64, "n_embd": 24, "n_layer": 2,
             "n_head": 4, "n_inner": 40, "eos_token_id": 2},
    "llama": {"model_type": "llama", **LLAMA, "head_dim": 6, "rope_theta": 1000.0, "mlp_bias": False},
    "mistral": {"model_type": "mistral", **LLAMA, "head_dim": 6, "sliding_window": 5,
                "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
    "qwen2": {"model_type": "qwen2", **LLAMA,
              "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
    "qwen3": {"model_type": "qwen3", **LLAMA, "head_dim": 8,
              "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
    "gpt_neox": {"model_type": "gpt_neox", **SIZES, "hidden_size": 32, "rotary_pct": 0.5,
                 "rotary_emb_base": 1000, "use_parallel_residual": True},
    "bloom": {"model_type": "bloom", "vocab_size": 48, "hidden_size": 24, "n_layer": 2, "n_head": 6,
              "eos_token_id": 2},
    "bert": {"model_type": "bert", **BERT},
    "roberta": {"model_type": "roberta", **BERT, "type_vocab_size": 1, "pad_token_id": 1},
    "t5": {"model_type": "t5", "vocab_size": 48, "d_model": 24, "d_kv": 10, "d_ff": 40,
           "num_layers": 2, "num_heads": 4, "relative_attention_num_buckets": 12,
           "relative_attention_max_distance": 20, "decoder_start_token_id": 0, "eos_token_id": 1,
           "pad_token_id": 0},
}

ACTIVATIONS = ["gelu", "gelu_new", "gelu_fast", "gelu_python", "gelu_pytorch_tanh",
               "gelu_python_tanh", "gelu_accurate", "gelu_10", "relu", "relu2", "relu6", "silu",
               "swish", "tanh", "sigmoid", "linear", "quick_gelu", "mish", "none such"]
VALUES = {
    "hidden_act": ACTIVATIONS,
    "activation_function": ACTIVATIONS,
    "feed_forward_proj": ["relu", "gated-gelu", "gated-relu", "gated-silu", "gated-gelu_new", "gelu",
                          "silu", "gated-gated-gelu", "plain-relu", "gated-gelu_fast"],
    "eos_token_id": [2, [2, 5], 1000, [2, 1000], -1, [], 47, 48],
    "pad_token_id": [0, 1, 5, 47],
    "bos_token_id": [1, 1000, -1],
    "rms_norm_eps": [1e-5, 1e-6, 0.1, 1e-12],
    "layer_norm_eps": [1e-5, 1e-6, 0.1, 1e-12],
    "layer_norm_epsilon": [1e-5, 1e-6, 0.1, 1e-12],
    "sliding_window": [5, 1, 12, 4096, 3],
    "max_window_layers": [0, 1, 2, 28],
    "layer_types": [["full_attention"] * 2, ["sliding_attention"] * 2,
                    ["full_attention", "sliding_attention"], ["full_attention"], ["linear_attention"] * 2,
                    ["attention"] * 2],
    "num_labels": [3],
    "id2label": [{"0": "a", "1": "b", "2": "c"}],
    "label2id": [{"a": 0}],
    "dtype": ["float16", "float32", "bfloat16"],
    "rope_parameters": [
        {}, {"rope_type": "default"}, {"rope_theta": 77.0}, {"rope_type": "default", "rope_theta": 77},
        {"type": "linear", "factor": 4.0}, {"rope_type": "linear", "factor": 4.0, "rope_theta": 300.0},
        {"rope_type": "linear"}, {"rope_type": "linear", "factor": "4"},
        {"rope_type": "default", "type": "linear", "factor": 4.0},
        {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
         "original_max_position_embeddings": 16},
        {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
        {"rope_type": "llama3", "factor": 8.0, "high_freq_factor": 4.0},
        {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16},
        {"rope_type": "dynamic", "factor": 4.0}, {"type": "dynamic", "factor": 4.0},
        {"rope_type": "longrope", "factor": 2.0, "short_factor": [1.0] * 3, "long_factor": [2.0] * 3},
        {"rope_type": "proportional", "rope_theta": 10.0}, {"rope_type": "none such"},
        {"rope_type": "default", "factor": 8.0}, {"rope_type": "default", "partial_rotary_factor": 0.5},
        {"rope_type": "linear", "factor": 2.0, "partial_rotary_factor": 0.5},
        {"rope_type": "default", "partial_rotary_factor": 1.0}, {"rope_theta": None},
        {"rope_type": None}, {"full_attention": {"rope_type": "default", "rope_theta": 5.0}},
        {"sliding_attention": {"rope_type": "default", "rope_theta": 5.0},
         "full_attention": {"rope_type": "linear", "factor": 2.0}},
        {"rope_type": "default", "mrope_section": [1, 1, 1]}, {"rope_type": "default", "finetuned": True},
        {"rope_type": "default", "attention_factor": 2.0, "beta_fast": 1}],
}
ROPES = VALUES["rope_parameters"]
SCALINGS = [
    change for scaling in ROPES for change in (
        {"rope_scaling": scaling, "rope_parameters": "ABSENT"},
        {"rope_scaling": scaling, "rope_parameters": {"rope_type": "default", "rope_theta": 50.0}},
        {"rope_scaling": scaling, "rope_parameters": {"rope_type": "linear", "factor": 3.0}},
        {"rope_scaling": scaling, "rope_parameters": "ABSENT", "rope_theta": 99.0})
] + [
    {"rope_parameters": "ABSENT", "rope_theta": 99.0},
    {"rope_parameters": "ABSENT", "rope_theta": None},
    {"rope_parameters": {"rope_type": "default"}, "rope_theta": 99.0},
    {"rope_parameters": {"rope_type": "default", "rope_theta": 7.0}, "rope_theta": 99.0},
    {"rope_parameters": None, "rope_scaling": None, "rope_theta": 5000},
    {"partial_rotary_factor": 0.5}, {"partial_rotary_factor": 1.0}, {"partial_rotary_factor": None},
    {"partial_rotary_factor": 0.5, "rope_parameters": {"rope_type": "linear", "factor": 2.0}},
    {"original_max_position_embeddings": 8, "rope_parameters": ROPES[9]},
    {"original_max_position_embeddings": 8, "rope_parameters": ROPES[10]},
    {"original_max_position_embeddings": 8}, {"rope_interleaved": False}, {"rope_interleaved": True},
    {"rope_scaling": False}, {"rope_scaling": "linear"}, {"rope_scaling": [1]},
]
WINDOWS = [
    {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 0},
    {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1},
    {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 2},
    {"use_sliding_window": True, "sliding_window": 5},
    {"use_sliding_window": True, "sliding_window": None, "max_window_layers": 0},
    {"use_sliding_window": True, "max_window_layers": 0},
    {"use_sliding_window": False, "sliding_window": 5, "max_window_layers": 0},
    {"use_sliding_window": False, "sliding_window": 5, "layer_types": ["sliding_attention"] * 2},
    {"use_sliding_window": True, "sliding_window": 5, "layer_types": ["sliding_attention"] * 2},
    {"use_sliding_window": True, "sliding_window": 5, "layer_types": ["full_attention"] * 2},
    {"use_sliding_window": True, "sliding_window": 5,
     "layer_types": ["full_attention", "sliding_attention"]},
]
GENERATION = [{"generation_config.json": {"eos_token_id": value}, "must be accepted": True}
              for value in (3, [4, 5], 1000, [4, -1])]
OTHERS = {
    "gpt2": GENERATION + [
        {"hidden_size": 24}, {"hidden_size": 24, "n_embd": 32}, {"hidden_size": 24, "n_embd": "ABSENT"},
        {"num_attention_heads": 2}, {"num_attention_heads": 2, "n_head": "ABSENT"},
        {"num_hidden_layers": 1}, {"max_position_embeddings": 32}, {"n_ctx": 32},
        {"n_ctx": 64, "n_positions": "ABSENT"}, {"n_inner": None, "must be accepted": True},
        {"reorder_and_upcast_attn": True, "must be accepted": True}, {"bias": True}, {"bias": False}],
    "llama": GENERATION + SCALINGS + [
        {"sliding_window": 5, "must be accepted": True}, {"sliding_window": 5, "use_sliding_window": True},
        {"layer_types": ["full_attention"] * 2}, {"layer_types": ["sliding_attention"] * 2,
                                                 "sliding_window": 5},
        {"attention_bias": True, "mlp_bias": True, "must be accepted": True},
        {"head_dim": 8}, {"head_dim": 8, "num_key_value_heads": None},
        {"num_key_value_heads": None, "must be accepted": True}, {"max_position_embeddings": 8},
        {"attention_multiplier": 2.0}, {"pretraining_tp": 2, "must be accepted": True}],
    "mistral": SCALINGS[::3] + [{"layer_types": one} for one in VALUES["layer_types"]] + [
        {"attention_bias": True, "must be accepted": True}, {"mlp_bias": True},
        {"sliding_window": None, "must be accepted": True}, {"sliding_window": "ABSENT"},
        {"sliding_window": None, "layer_types": ["sliding_attention"] * 2},
        {"num_key_value_heads": "ABSENT", "num_attention_heads": 8},
        {"use_sliding_window": False}, {"max_window_layers": 1}],
    "qwen2": SCALINGS[1::3] + WINDOWS + [
        {"attention_bias": False}, {"head_dim": 8, "must be accepted": True}, {"head_dim": None},
        {"num_key_value_heads": "ABSENT"},
        {"num_key_value_heads": "ABSENT", "num_attention_heads": 32, "hidden_size": 64}],
    "qwen3": SCALINGS[2::3] + WINDOWS + [
        {"attention_bias": True, "must be accepted": True}, {"mlp_bias": True}, {"head_dim": "ABSENT"}],
    "gpt_neox": SCALINGS + [
        {"rotary_pct": one} for one in (1.0, 0.25, 0.3, 0.1, 0.0, 2.0, None, "ABSENT", "half")] + [
        {"rotary_emb_base": one} for one in (10000, 77.5, None, "ABSENT", 0)] + [
        {"rotary_pct": 0.25, "rope_parameters": {"rope_type": "default", "partial_rotary_factor": 1.0}},
        {"rotary_emb_base": 50, "rope_parameters": {"rope_type": "default", "rope_theta": 7.0}},
        {"head_dim": 8}, {"head_dim": 4}, {"is_decoder": True}],
    "bloom": [
        {"slow_but_exact": True, "pretraining_tp": 2}, {"slow_but_exact": True, "pretraining_tp": 1},
        {"slow_but_exact": False, "pretraining_tp": 4, "must be accepted": True},
        {"n_embed": 24, "hidden_size": "ABSENT", "must be accepted": True},
        {"n_embed": 24, "hidden_size": 48}, {"n_embed": None}, {"num_attention_heads": 3},
        {"num_attention_heads": 6, "n_head": "ABSENT", "must be accepted": True},
        {"num_hidden_layers": 1}, {"n_inner": None, "must be accepted": True}, {"n_inner": 40},
        {"seq_length": 2048, "must be accepted": True}, {"offset_alibi": 100, "must be accepted": True},
        {"attention_softmax_in_fp32": True, "must be accepted": True}],
    "bert": [
        {"position_embedding_type": "absolute", "must be accepted": True},
        {"position_embedding_type": "relative_key"}, {"is_decoder": True}, {"add_cross_attention": True},
        {"pooler_type": "first_token_transform", "must be accepted": True},
        {"directionality": "bidi", "must be accepted": True}, {"embedding_size": 12},
        {"is_encoder_decoder": True}, {"chunk_size_feed_forward": 3, "must be accepted": True}],
    "roberta": [
        {"pad_token_id": 30}, {"pad_token_id": 3, "must be accepted": True}, {"pad_token_id": "ABSENT"},
        {"position_embedding_type": "absolute", "must be accepted": True}, {"is_decoder": True},
        {"max_position_embeddings": 14}, {"max_position_embeddings": 13}],
    "t5": [
        {"tie_word_embeddings": one} for one in (True, False, None)] + [
        {"tie_word_embeddings": one, "scale_decoder_outputs": other}
        for one in (True, False) for other in (True, False)] + [
        {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "must be accepted": True},
        {"feed_forward_proj": "gated-gelu", "dense_act_fn": "relu"},
        {"feed_forward_proj": "gated-gelu", "is_gated_act": False},
        {"feed_forward_proj": "relu", "dense_act_fn": "gelu"}, {"hidden_size": 24}, {"hidden_size": 48},
        {"num_hidden_layers": 3}, {"num_attention_heads": 2}, {"head_dim": 5},
        {"num_decoder_layers": 3}, {"n_positions": 512, "must be accepted": True},
        {"tie_encoder_decoder": True}],
}

# Entries that change nothing: must be accepted, in every model and in one.
HARMLESS = {
    "all": {
        "unsloth_version": "2025.1", "unsloth_fixed": True, "num_labels": 3,
        "is_encoder_decoder_": None, "output_hidden_states": True, "output_attentions": False,
        "sentence_transformers": {"__version__": "3.0"}, "return_dict": False,
        "torch_dtype": "float16", "dtype": "bfloat16", "use_cache": False, "torchscript": False,
        "architectures": ["SomeModel"], "_name_or_path": "x", "transformers_version": "4.0.0",
        "tokenizer_class": "X", "problem_type": None, "task_specific_params": {"a": 1},
        "finetuning_task": "mnli", "gradient_checkpointing": True, "auto_map": {"AutoModel": "x.Y"},
        "initializer_range": 0.5, "pruned_heads": {}, "tie_encoder_decoder": False,
        "chunk_size_feed_forward": 0, "max_length": 5, "min_length": 3, "do_sample": True,
        "num_beams": 4, "temperature": 0.1, "top_k": 5, "top_p": 0.5, "repetition_penalty": 2.0,
        "length_penalty": 2.0, "no_repeat_ngram_size": 2, "early_stopping": True, "bad_words_ids": None,
        "sep_token_id": 1000, "mask_token_id": -1, "cross_attention_hidden_size": None,
        "output_past": True, "id2label": {"0": "a"}, "label2id": {"a": 0}, "prefix": None,
        "quantization_config": None, "attn_implementation": "eager",
        "remove_invalid_values": False, "use_bfloat16": False, "tf_legacy_loss": False,
        "author": "A", "license": "CC", "created_date": "2021-04-28", "eos_token": "</s>",
        "pad_token": "<pad>", "custom_pipelines": {"a": {"impl": "b.C"}}},
    "gpt2": {"is_decoder": True, "summary_type": "mean", "n_ctx": 64, "embd_pdrop": 0.5,
             "n_special": 0, "predict_special_tokens": True},
    "llama": {"is_decoder": True, "attention_dropout": 0.3, "is_llama_config": True,
              "max_sequence_length": 64, "pretraining_tp": 2},
    "mistral": {"is_decoder": False, "attention_dropout": 0.3},
    "qwen2": {"max_window_layers": 21, "sliding_window": 32768, "use_sliding_window": False,
              "use_mrope": False},
    "qwen3": {"max_window_layers": 21, "sliding_window": None, "use_sliding_window": False},
    "gpt_neox": {"is_decoder": False, "hidden_dropout": 0.3, "classifier_dropout": 0.3},
    "bloom": {"is_decoder": False, "masked_softmax_fusion": True, "skip_bias_add": True},
    "bert": {"is_decoder": False, "classifier_dropout": None, "hidden_dropout_prob": 0.4,
             "tie_word_embeddings": False, "cell": {}, "emb_size": 312, "pre_trained": "",
             "structure": [], "training": "",
             "sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"},
    "roberta": {"is_decoder": False, "classifier_dropout": 0.2, "tie_word_embeddings": True},
    "t5": {"is_decoder": False, "dropout_rate": 0.4, "output_past": True, "initializer_factor": 3.0},
}
# Entries that weft refuses as unknown, whatever transformers does with them.
UNKNOWN = {
    "quantization_config": {"quant_method": "fp8"}, "logit_softcap": 30.0, "sliding_windw": 4,
    "pruned_heads": {"0": [1]}, "per_layer_config": {"0": {"rms_norm_eps": 0.5}}, "embedding_size": 8,
    "compression_config": {"quant_method": "x"}, "tie_encoder_decoder": True, "text_config": {"a": 1},
    "attention_chunk_size": 4, "logits_scaling": 2.0, "no_rope_layers": [0, 1],
}
