"""Keys of published files, without which a class of a library cannot be made or run."""

GLM_SECTIONS = {
    "rope_type": "default",
    "rope_theta": 10000.0,
    "partial_rotary_factor": 0.5,
    "mrope_section": [8, 12, 12],
}
LLAMA_3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
WRITER = {"model_type": "bert", "is_decoder": True, "add_cross_attention": True}
TIMM = {"model_type": "timm_wrapper", "architecture": "resnet50"}
MUSIC = {"text_encoder": {"model_type": "t5"}, "audio_encoder": {"model_type": "encodec"}}
RESNET = {
    "use_timm_backbone": False,
    "use_pretrained_backbone": False,
    "backbone": {"gone": True},
    "backbone_kwargs": {"gone": True},
    "backbone_config": {"model_type": "resnet", "out_features": ["stage4"]},
}
PUBLISHED = {
    "encoder-decoder": {"encoder": {"model_type": "bert"}, "decoder": WRITER},
    "vision-encoder-decoder": {
        "encoder": {"model_type": "vit"},
        "decoder": {"model_type": "gpt2", "add_cross_attention": True},
    },
    "speech-encoder-decoder": {"encoder": {"model_type": "wav2vec2"}, "decoder": WRITER},
    "vision-text-dual-encoder": {
        "vision_config": {"model_type": "vit"},
        "text_config": {"model_type": "bert"},
    },
    "nougat": {
        "encoder": {"model_type": "donut-swin", "image_size": [896, 672]},
        "decoder": {"model_type": "mbart", "decoder_layers": 4, "add_cross_attention": True},
    },
    "rag": {
        "question_encoder": {"model_type": "dpr"},
        "generator": {"model_type": "bart"},
    },
    "musicgen": {**MUSIC, "decoder": {"model_type": "musicgen_decoder"}},
    "musicgen_melody": {**MUSIC, "decoder": {"model_type": "musicgen_melody_decoder"}},
    "edgetam": {
        "vision_config": {"model_type": "edgetam_vision_model", "backbone_config": TIMM}
    },
    "perception_lm": {"vision_config.model_args": {"embed_dim": 1536}},
    "edgetam_vision_model": {"backbone_config": TIMM},
    "aya_vision": {
        "vision_config.num_attention_heads": 16,
        "vision_config.model_type": "siglip_vision_model",
        "text_config.model_type": "cohere2",
    },
    "llava_onevision": {"vision_config.num_attention_heads": 16},
    **{name: RESNET for name in ("detr", "conditional_detr", "dab-detr", "deformable_detr")},
    "table-transformer": RESNET,
    "esm": {"vocab_size": 33, "pad_token_id": 1, "mask_token_id": 32},
    "idefics3": {"text_config.vocab_size": 128259},
    "smolvlm": {"text_config.vocab_size": 128259},
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128},
    "hunyuan_vl": {"text_config.head_dim": 128},
    "hunyuan_vl_text": {
        "head_dim": 128,
        "rope_parameters": {
            "rope_type": "xdrope",
            "alpha": 1000.0,
            "factor": 1.0,
            "rope_theta": 10000.0,
            "xdrope_section": [16, 16, 16, 16],
        },
    },
    "ministral": {"head_dim": 128},
    "nemotron": {"head_dim": 128, "num_key_value_heads": 8},
    "moonshine_streaming": {"num_key_value_heads": 8},
    "qwen3_omni_moe": {"talker_config.text_config.shared_expert_intermediate_size": 512},
    "qwen3_omni_moe_talker_text": {"shared_expert_intermediate_size": 512},
    "dots1": {"n_routed_experts": 8, "num_experts_per_tok": 2, "n_shared_experts": 1},
    "deepseek_v2": {"num_experts_per_tok": 2, "n_routed_experts": 8},
    "lfm2_moe": {
        "num_hidden_layers": 8,
        "layer_types": ["conv", "conv", "full_attention", "conv"] * 2,
    },
    "glm4v_text": {"rope_parameters": GLM_SECTIONS},
    "glm_image_text": {"rope_parameters": GLM_SECTIONS},
    "dbrx": {"attn_config": {"rope_theta": 500000.0}},
    "granitemoehybrid": {"layer_types": ["attention"] * 8, "num_hidden_layers": 8},
    "mllama": {"text_config.rope_scaling": LLAMA_3},
    "qwen3_omni_moe_text": {"num_attention_heads": 32, "head_dim": 128},
    "chameleon": {"vocabulary_map": {"<image>": 8}},
    "emu3": {"vocabulary_map": {"<image>": 8}},
    "deepseek_ocr2_text": {"mlp_layer_types": ["dense"] * 8, "num_hidden_layers": 8},
    "deepseek_ocr2": {
        "text_config.mlp_layer_types": ["dense"] * 8,
        "text_config.num_hidden_layers": 8,
    },
    "diffusion_gemma": {"text_config.num_experts": 4, "text_config.top_k_experts": 2},
    "diffusion_gemma_text": {"num_experts": 4, "top_k_experts": 2},
    "cohere_compass_text": {
        "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 2e4}},
    },
    "granite4_vision": {
        "text_config": {"model_type": "granite4_vision_text", "num_hidden_layers": 8},
    },
    "t5gemma2_text": {"dropout_rate": 0.0},
    "t5gemma2_decoder": {"dropout_rate": 0.0},
    "t5gemma2_encoder": {"text_config.dropout_rate": 0.0},
    "vjepa2": {"crop_size": 64, "frames_per_clip": 4},
    "autoformer": {"prediction_length": 24},
    "informer": {"prediction_length": 24},
    "time_series_transformer": {"prediction_length": 24},
    "granite_swa": {"layer_rope_theta": [0, 10000.0, 10000.0, 500000.0] * 2},
    "granitemoe_swa": {"layer_rope_theta": [10000.0, 0, 0, 500000.0] * 2},
}
